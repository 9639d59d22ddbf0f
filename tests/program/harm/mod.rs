//! Input and surroundings that mean harm: what is read does not reach the network, other files or the terminal, and a
//! system that gives little, or nothing more, does not make the program panic; and what is read costs no more memory and time than is allowed.

mod children;
mod costs;
mod damage;
mod faults;
mod fuzz_findings;
pub mod isolation;
mod limits;
mod memory;
mod playlists;
mod read_by_name;
mod sandbox;
mod servers;
mod shared_folders;
mod terminal;
mod walls;
