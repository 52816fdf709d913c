//! Which addresses the worker may connect to: global unicast, and what the operator has listed.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The addresses to which connections are permitted.
///
/// ```
/// use workflow_services::addresses::AddressRules;
///
/// let rules = AddressRules::new(vec!["10.0.0.0/8".parse()?, "127.0.0.1:8080".parse()?]);
/// assert!(rules.permit("10.1.2.3".parse().unwrap(), 443));
/// assert!(rules.permit("127.0.0.1".parse().unwrap(), 8080) && !rules.permit("127.0.0.1".parse().unwrap(), 5432));
/// assert!(!rules.permit("169.254.169.254".parse().unwrap(), 80));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AddressRules {
    listed: Vec<ListedAddress>,
}

impl AddressRules {
    /// Global unicast addresses, and those that are listed.
    pub fn new(listed: Vec<ListedAddress>) -> Self {
        Self { listed }
    }

    /// Whether a connection to this address and port is permitted.
    ///
    /// An IPv6 address that stands for an IPv4 address (6to4, Teredo, NAT64) is permitted only if both are; one that maps an
    /// IPv4 address is that address.
    pub fn permit(&self, address: IpAddr, port: u16) -> bool {
        let address = address.to_canonical();
        let inner = match address {
            IpAddr::V6(address) => embedded(address).is_none_or(|inner| self.permit_one(inner.into(), port)),
            IpAddr::V4(_) => true,
        };
        port != 0 && inner && self.permit_one(address, port)
    }

    fn permit_one(&self, address: IpAddr, port: u16) -> bool {
        let is_global = match address {
            IpAddr::V4(address) => is_global_v4(address),
            IpAddr::V6(address) => is_global_v6(address),
        };
        (is_global && !OTHER_PROTOCOLS.contains(&port)) || self.listed.iter().any(|listed| listed.has(address, port))
    }
}

/// An address or a network, with or without a port: `10.0.0.0/8`, `127.0.0.1:8080`, `fd00::/8`, `[::1]:8080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedAddress {
    network: IpAddr,
    length: u32,
    port: Option<u16>,
}

impl ListedAddress {
    fn has(&self, address: IpAddr, port: u16) -> bool {
        let same = match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                starts_with(network.to_bits().into(), address.to_bits().into(), 32 - self.length)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                starts_with(network.to_bits(), address.to_bits(), 128 - self.length)
            }
            _ => false,
        };
        same && self.port.is_none_or(|listed| listed == port)
    }
}

/// Whether two addresses differ in the last `rest` bits at most.
fn starts_with(network: u128, address: u128, rest: u32) -> bool {
    (network ^ address).checked_shr(rest).unwrap_or(0) == 0
}

impl FromStr for ListedAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no address: use 10.0.0.0/8, 127.0.0.1:8080, fd00::/8 or [::1]:8080");
        let (network, port) = if let Some(bracketed) = text.strip_prefix('[') {
            let (network, rest) = bracketed.split_once(']').ok_or_else(wrong)?;
            (network, if rest.is_empty() { None } else { Some(rest.strip_prefix(':').ok_or_else(wrong)?) })
        } else if text.matches(':').count() == 1 {
            text.split_once(':').map(|(network, port)| (network, Some(port))).ok_or_else(wrong)?
        } else {
            (text, None)
        };
        let port: Option<u16> = port.map(str::parse).transpose().map_err(|_| wrong())?;
        let (address, length) = match network.split_once('/') {
            Some((address, length)) => (address, Some(length.parse::<u32>().map_err(|_| wrong())?)),
            None => (network, None),
        };
        let network: IpAddr = address.parse().map_err(|_| wrong())?;
        let longest = if network.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(longest);
        if length > longest || port == Some(0) {
            return Err(wrong());
        }
        Ok(Self { network, length, port })
    }
}

impl fmt::Display for ListedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "[{}/{}]:{port}", self.network, self.length),
            None => write!(f, "{}/{}", self.network, self.length),
        }
    }
}

/// IPv4 networks that are not global unicast: IANA's registry of special-purpose addresses, multicast and reserved.
const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // A service of Azure for its virtual machines, with their certificates and settings.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// IPv6 networks inside 2000::/3 that are not global unicast. Everything outside of it is none.
const SPECIAL_V6: &[(Ipv6Addr, u32)] = &[
    // Teredo, benchmarks, ORCHID and other protocol assignments.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_global_v4(address: Ipv4Addr) -> bool {
    let is_in = |&(network, length): &(Ipv4Addr, u32)| {
        starts_with(network.to_bits().into(), address.to_bits().into(), 32 - length)
    };
    !SPECIAL_V4.iter().any(is_in)
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    let is_in = |&(network, length): &(Ipv6Addr, u32)| starts_with(network.to_bits(), address.to_bits(), 128 - length);
    is_in(&(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)) && !SPECIAL_V6.iter().any(is_in)
}

/// The IPv4 address to which a router translates an IPv6 address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => of(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 1, _, _, _, high, low] => of(high, low),
        [0x2002, high, low, ..] => of(high, low),
        [0x2001, 0, _, _, _, _, high, low] => of(!high, !low),
        _ => None,
    }
}

/// Ports of other protocols, whose servers may take the lines of an HTTP request for commands: those that browsers block.
const OTHER_PROTOCOLS: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
    540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
    6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn only_global_unicast_is_permitted() {
        let rules = AddressRules::default();
        for text in ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1"] {
            assert!(rules.permit(address(text), 443), "{text}");
        }
        let refused = [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "203.0.113.5",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::101:101",
            "64:ff9b:1::a00:1",
            "100::1",
            "2001::1",
            "2001:0:1:2:3:4:80ff:fffe",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:101:101::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        for text in refused {
            assert!(!rules.permit(address(text), 443), "{text}");
        }
        for port in [0, 22, 25, 6379, 11211] {
            assert!(!rules.permit(address("1.1.1.1"), port), "{port}");
        }
    }

    #[test]
    fn listed_addresses_are_permitted() {
        let listed = ["127.0.0.1:8080", "10.0.0.0/8", "[::1]:8080", "fd00::/8", "64:ff9b::/96", "[192.168.1.0/24]:443"];
        let rules = AddressRules::new(listed.iter().map(|text| text.parse().expect("a listed address")).collect());
        let permitted = [
            ("127.0.0.1", 8080),
            ("::ffff:127.0.0.1", 8080),
            ("10.255.0.1", 1),
            ("::1", 8080),
            ("fd12::1", 443),
            ("192.168.1.9", 443),
            ("64:ff9b::101:101", 443),
            ("64:ff9b::a00:1", 443),
        ];
        for (text, port) in permitted {
            assert!(rules.permit(address(text), port), "{text} {port}");
        }
        // The last one is translated to 169.254.169.254.
        let refused = [
            ("127.0.0.1", 8081),
            ("127.0.0.2", 8080),
            ("11.0.0.1", 22),
            ("::1", 80),
            ("fe80::1", 443),
            ("192.168.1.9", 80),
            ("192.168.2.9", 443),
            ("64:ff9b::a9fe:a9fe", 80),
        ];
        for (text, port) in refused {
            assert!(!rules.permit(address(text), port), "{text} {port}");
        }
        let everything = AddressRules::new(vec!["0.0.0.0/0".parse().expect("all")]);
        assert!(everything.permit(address("127.0.0.1"), 22) && !everything.permit(address("::1"), 80));
    }

    #[test]
    fn a_listed_address_is_checked() {
        let wrong =
            ["", "localhost", "10.0.0.0/33", "::/129", "1.2.3.4:0", "1.2.3.4:x", "[::1", "[::1]8080", "10.0.0.0/8/8"];
        for text in wrong {
            let error = text.parse::<ListedAddress>().expect_err(text);
            assert!(error.contains("is no address"), "{error}");
        }
    }
}
