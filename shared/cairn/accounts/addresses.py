"""How many sign-ins an address may try, whoever they name. Not how many a person may."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address
from uuid import UUID

from cairn.kernel.access.keys import secret_hash

ADDRESS_ATTEMPTS, ADDRESS_WINDOW = 20, timedelta(minutes=5)
"""So many at once, and as many more in the time; failed ones alone count."""


def address_id(address: str | None) -> UUID:
    """Return what stands for an address where attempts are counted: of its hash, not the address.

    A network gives a customer at least 2^64 addresses of IPv6, so these count as one.
    """
    return UUID(bytes=secret_hash(f"sign-in {_network(address or '')}")[:16])


def _network(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), 64), strict=False))
