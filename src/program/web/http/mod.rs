//! Connections from browsers: who may use them, and what each address answers.
//! | file | what it is |
//! |---|---|
//! | `server.rs` | connections, and their limits |
//! | `access.rs`, `token.rs` | who may use it; the token that others need, and the file that stores it |
//! | `addresses.rs` | the IP addresses at which others reach it |
//! | `routes.rs`, `bodies.rs` | what each address answers; long answers: files, pictures |

pub(crate) mod access;
pub(crate) mod addresses;
pub(crate) mod bodies;
pub(crate) mod routes;
pub(crate) mod server;
pub(crate) mod token;
