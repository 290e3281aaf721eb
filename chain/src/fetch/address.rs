use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public Internet. All others are refused: loopback, private, shared and
/// link-local networks (where clouds keep their credentials), multicast, documentation, and the forms of IPv6
/// that contain such an IPv4 address.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// IANA's registry of special addresses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224.., ..)
    );
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let within = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high, low].map(u16::to_be_bytes);
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => within(high, low), // mapped, NAT64
        [0x2002, ..] => within(b, c),                                              // 6to4
        [0x2001, 0x0db8, ..] | [0x2001, 0..=0x01ff, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [0x2000..=0x3fff, ..] => true, // global unicast
        _ => false,
    }
}
