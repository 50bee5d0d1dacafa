"""Signing in by a device code: of connectors, and of mailboxes. Loads nothing of MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.oauth_client.sign_in import SignIns
    from cairn.oauth_client.tokens import Tokens
    from cairn.writing.platform import Platform


def sign_in_tokens(leads: str, opened: Database, platform: Platform) -> Tokens:
    """Return the tokens of what is signed in by a device code; `leads` says where it may ask."""
    import time

    from cairn.adapters.http.authorization_server import HttpAuthorizationServer
    from cairn.adapters.postgres.agents.connectors import StateTransactions
    from cairn.oauth_client.tokens import Tokens
    from cairn.writing.secrets import Secrets

    return Tokens(
        platform=platform,
        states=StateTransactions(opened),
        secrets=Secrets.of(platform),
        server=HttpAuthorizationServer(leads=leads),
        pause=time.sleep,
    )


def sign_ins(leads: str, opened: Database, platform: Platform) -> SignIns:
    """Return what signs connectors and ticket sources in by a device code."""
    from cairn.adapters.http.authorization_server import HttpAuthorizationServer
    from cairn.adapters.postgres.agents.connectors import StateTransactions
    from cairn.oauth_client.sign_in import SignIns
    from cairn.writing.secrets import Secrets

    return SignIns(
        platform=platform,
        states=StateTransactions(opened),
        secrets=Secrets.of(platform),
        server=HttpAuthorizationServer(leads=leads),
    )
