mod loops;
mod reading;
mod writing;
