//! `--web` and `--web-token`: where the view in a browser listens, and what keeps its token.

use clap::Args;
use histeq_media::sys::files::Name;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The port, unless another one is given.
const PORT: u16 = 8100;

/// A view in a browser.
#[derive(Clone, Debug)]
pub struct WebOptions {
    /// The address at which it listens.
    pub address: SocketAddr,
    /// The file that keeps its token from run to run.
    pub token: Option<Name>,
}

/// The token of `--web`, as typed.
#[derive(Args, Debug)]
pub struct WebTokenArg {
    /// Keep the token of --web in this file, so that the printed address stays good after a restart
    ///
    /// A file that is not there is made, for its owner alone (mode 600). 127.0.0.1 asks for the token, too.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "web")]
    pub web_token: Option<Name>,
}

impl WebTokenArg {
    /// The view at the address of `--web`.
    pub fn view(self, address: Option<SocketAddr>) -> Option<WebOptions> {
        address.map(|address| WebOptions { address, token: self.web_token })
    }
}

/// Reads an address: `8080` (on this machine), `0.0.0.0`, `192.168.1.2:8080`, `[::]:8080`.
///
/// # Errors
/// When it is none of these.
pub fn web_address(text: &str) -> Result<SocketAddr, String> {
    let of_port = |port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    if text.is_empty() || text == "localhost" {
        return Ok(of_port(PORT));
    }
    let port = text.strip_prefix("localhost:").unwrap_or(text).parse().map(of_port).ok();
    let address = || text.parse().ok();
    let number = || {
        let number: Option<IpAddr> = text.trim_start_matches('[').trim_end_matches(']').parse().ok();
        number.map(|number| SocketAddr::new(number, PORT))
    };
    port.or_else(address).or_else(number).ok_or_else(|| {
        "an address to listen at is a port (8080), a number of this machine (0.0.0.0 is all), or both (0.0.0.0:8080)".to_owned()
    })
}
