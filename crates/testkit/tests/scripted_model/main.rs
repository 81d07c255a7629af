//! The scripted model as a program meets it: bytes on a socket.

#[cfg(test)]
mod client;
#[cfg(test)]
mod conversations;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod wire;
