"""How what a ticket waits for is mended: by a device code, or by new secrets. Not the mending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations.views import mends
from cairn.oauth_client.client import SETTING as OAUTH

if TYPE_CHECKING:
    from cairn.investigations.views import MendView
    from cairn.kernel.stores import Stores


def mends_of(stores: Stores, waits_for: str | None) -> tuple[MendView, ...]:
    """Return what is to be mended, with the page and the command that do it."""
    kind, _, name = (waits_for or "").partition(":")
    by_code = False
    if kind == "connector":
        registered = stores.connectors.find(name)
        by_code = registered is not None and OAUTH in registered.connector.config
    elif name:
        source = stores.ticket_sources.named(name)
        by_code = source is not None and OAUTH in source.config
    return mends(waits_for, by_code=by_code)
