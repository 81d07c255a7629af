//! Units as they run: real programs of the worst kinds, under the real shim.

#[cfg(test)]
mod ends;
#[cfg(test)]
mod lost;
#[cfg(test)]
mod output;
#[cfg(test)]
mod starts;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod torture;
