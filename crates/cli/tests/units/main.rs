//! Units as they run: real programs of the worst kinds, under the real shim.

#[cfg(test)]
mod basics;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod tools;
