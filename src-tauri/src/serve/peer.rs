//! Determines the user at the other end of a local connection, from the kernel's table of sockets.
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// Returns true if the client is a program of this process's user; false if it is another user's,
/// or if the user is unknown.
pub(super) fn is_ours(peer: SocketAddr, port: u16) -> bool {
    let SocketAddr::V4(peer) = peer else { return false };
    let us = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    user_of(&table, peer, us) == Some(rustix::process::getuid().as_raw())
}

/// Returns the user of the socket that connects these addresses.
fn user_of(table: &str, from: SocketAddrV4, to: SocketAddrV4) -> Option<u32> {
    let (from, to) = (written(from), written(to));
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let leads = words.next() == Some(&from) && words.next() == Some(&to);
        // State, queues, timer and retransmissions are skipped.
        leads.then(|| words.nth(4)?.parse().ok())?
    })
}

/// Formats an address like the kernel does: the IP address in memory order, and the port.
fn written(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_user_of_a_socket_is_read_from_the_systems_table() {
        let ip = format!("{:08X}", u32::from_ne_bytes([127, 0, 0, 1]));
        let table = format!(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             \x20  0: {ip}:1F90 {ip}:A000 01 00000000:00000000 00:00000000 00000000     7        0 11 1\n\
             \x20  1: {ip}:A000 {ip}:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 12 1\n"
        );
        let at = |port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        assert_eq!(user_of(&table, at(0xA000), at(0x1F90)), Some(1000));
        assert_eq!(user_of(&table, at(0x1F90), at(0xA000)), Some(7));
        assert_eq!(user_of(&table, at(0xA001), at(0x1F90)), None);
        assert_eq!(user_of("", at(1), at(2)), None);
    }

    #[test]
    fn our_own_connection_is_ours_and_one_that_is_not_there_is_nobodys() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let peer = stream.local_addr().unwrap();
        assert!(is_ours(peer, port));
        assert!(!is_ours(peer, port.wrapping_add(1)));
    }
}
