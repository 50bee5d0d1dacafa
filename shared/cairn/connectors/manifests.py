"""The manifests of what connectors listed, each listing read once. Not the reading: `manifest`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.connectors.manifest import read_manifest

if TYPE_CHECKING:
    from cairn.connectors.ports import Registered
    from cairn.safety.tools import Criticality, Manifest

MAX_MANIFESTS = 500
"""Kept as read, in this process."""


class Manifests:
    """Reads what connectors listed; a listing of another hash is another one."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str, Criticality], Manifest] = {}

    def __call__(self, found: Registered) -> Manifest | None:
        """Return the manifest a connector listed last; None for one that never listed any."""
        listing, connector = found.listing, found.connector
        if listing is None:
            return None
        key = (connector.name, listing.hash, connector.criticality)
        known = self._read.get(key)
        if known is None:
            known = read_manifest(
                connector.name, listing.version, listing.tools, criticality=connector.criticality
            )
            if len(self._read) >= MAX_MANIFESTS:
                self._read.clear()
            self._read[key] = known
        return known
