"""Whether an address lies outside every private network. Pure; not the looking up of names."""

from __future__ import annotations

import ipaddress

WRAPPING = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))
"""NAT64, and IPv4 as IPv6 once wrote it: the last 32 bits are the address that is reached."""

UNICAST = ipaddress.ip_network("2000::/3")
"""What IPv6 uses for public places; the rest is of networks, of old forms, or of nobody yet."""


def is_public(address: str) -> bool:
    """Return whether an address lies outside every private network, whatever it is wrapped in."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if any(parsed in each for each in WRAPPING):
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if parsed not in UNICAST:
            return False
    return parsed.is_global and not parsed.is_multicast


def is_address(host: str) -> bool:
    """Return whether a host is an address in itself, and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
