//! The server as clients meet it: real sockets on loopback, bytes written by hand. Whatever needs a run
//! of the real program is tested with the program.

mod attacks;
mod events_socket;
mod limits;
mod openapi_file;
mod other_address;
mod outputs;
mod phone;

mod support;
