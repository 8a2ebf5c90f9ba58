"""Which addresses belong to the public Internet: IANA's special-purpose registries as tables, as of 2026-11.

The library's `is_global` is not used, because its tables are as old as the interpreter, and differ between versions.
"""

import ipaddress

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

#: https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast.
_SPECIAL_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and metadata of clouds
        "168.63.129.16/32",  # the host of every virtual machine of Azure; registered as an ordinary address
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocols: DS-Lite, the dummy address 192.0.0.8, PCP, TURN, NAT64
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
#: All allocated global unicast addresses of IPv6; all others are special.
_UNICAST = ipaddress.IPv6Network("2000::/3")
#: https://www.iana.org/assignments/iana-ipv6-special-registry, where it is below 2000::/3.
_SPECIAL_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # IETF protocols: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which leads to any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # the 6bone, returned
        "3fff::/20",  # documentation
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: IpAddress) -> bool:
    """Whether an address is publicly reachable; an IPv4 address inside an IPv6 one is judged as itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _SPECIAL_4)
    if (inner := _inner(address)) is not None:
        return is_public(inner)
    return address in _UNICAST and not any(address in network for network in _SPECIAL_6)


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that it leads to: in IPv6 notation, or behind a NAT64."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped
