//! The addresses by which others reach the view.

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::SockaddrStorage;
use std::net::{IpAddr, Ipv4Addr, TcpListener};

/// The IP addresses by which others reach `listener`, and the interface of each if there are several. IPv6 addresses
/// are left out if there is any of IPv4, since the short ones are easier to type into phones. Without a network, it is
/// the loopback address.
///
/// # Errors
/// When `listener` has no address.
pub fn reachable(listener: &TcpListener) -> std::io::Result<Vec<(IpAddr, Option<String>)>> {
    let bound = listener.local_addr()?.ip();
    if !bound.is_unspecified() {
        return Ok(vec![(bound, None)]);
    }
    let of_machine: Vec<_> = getifaddrs()
        .map_err(std::io::Error::from)?
        .filter(|found| found.flags.contains(InterfaceFlags::IFF_RUNNING))
        .filter_map(|found| Some((number(&found.address?)?, Some(found.interface_name))))
        .filter(|(number, _)| is_for_others(*number))
        .collect();
    let of_family = |is_ipv4: bool| of_machine.iter().filter(move |(number, _)| number.is_ipv4() == is_ipv4).cloned();
    let mut found: Vec<_> = of_family(true).collect();
    if found.is_empty() && bound.is_ipv6() {
        found.extend(of_family(false));
    }
    match &mut found[..] {
        [] => found.push((IpAddr::V4(Ipv4Addr::LOCALHOST), None)),
        [(_, interface)] => *interface = None,
        _ => (),
    }
    Ok(found)
}

fn number(address: &SockaddrStorage) -> Option<IpAddr> {
    let ipv4 = address.as_sockaddr_in().map(|address| address.ip().into());
    ipv4.or_else(|| address.as_sockaddr_in6().map(|address| address.ip().into()))
}

/// Whether other machines can reach this IP address from all networks of this machine: it is neither loopback nor
/// link-local.
fn is_for_others(number: IpAddr) -> bool {
    !number.is_loopback()
        && match number {
            IpAddr::V4(number) => !number.is_link_local(),
            IpAddr::V6(number) => !number.is_unicast_link_local(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_this_machine_alone_and_of_one_cable_are_not_told() {
        let told = ["192.168.1.5", "10.8.0.2", "2001:db8::5", "fd00::2"];
        let rest = ["127.0.0.1", "127.1.2.3", "169.254.7.7", "::1", "fe80::1"];
        for number in told.into_iter().chain(rest) {
            assert_eq!(is_for_others(number.parse().expect("a number")), told.contains(&number), "{number}");
        }
    }

    #[test]
    fn what_listens_at_one_number_or_at_all_is_reached_at_what_is_told() {
        for bound in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(bound).expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let found = reachable(&listener).expect("numbers");
            assert!(!found.is_empty());
            for (number, _) in found {
                std::net::TcpStream::connect((number, port)).unwrap_or_else(|error| panic!("{number}: {error}"));
            }
        }
    }
}
