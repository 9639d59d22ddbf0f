//! Input that means harm: what it names, says and asks for does not reach the network, other files or the terminal.

mod playlists;
