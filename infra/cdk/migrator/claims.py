"""The claim: a token an operator trades for the first admin key within fifteen minutes.

Only its SHA-256 is stored. A second one is refused while the first is valid, and for ever once
one was used: afterwards the admin key makes the others.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    import psycopg

VALID_FOR = timedelta(minutes=15)
# Under FORCE ROW LEVEL SECURITY the owner sees nothing; this role's policy is for such work.
ACROSS_WORKSPACES = "SET LOCAL ROLE cairn_migrator"
ALONE = "LOCK TABLE claim IN EXCLUSIVE MODE"
EARLIER = "SELECT used_at IS NOT NULL FROM claim WHERE used_at IS NOT NULL OR expires_at > %(now)s"
ISSUE = """
INSERT INTO claim (id, token_hash, created_at, expires_at)
VALUES (%(id)s, %(token_hash)s, %(now)s, %(expires_at)s)
"""


class ClaimRefused(Exception):
    """There was a claim already: one that is still valid, or one that was used."""


def issue_claim(connection: psycopg.Connection[Any], *, now: datetime) -> dict[str, Any]:
    """A new token and when it expires; ClaimRefused while another holds."""
    token = secrets.token_urlsafe(32)
    with connection.transaction():
        connection.execute(ACROSS_WORKSPACES)
        connection.execute(ALONE)
        earlier = connection.execute(EARLIER, {"now": now}).fetchall()
        if any(used for (used,) in earlier):
            raise ClaimRefused("this deployment was claimed; make keys with the admin key")
        if earlier:
            raise ClaimRefused("a claim is still valid; use it, or wait until it expires")
        connection.execute(
            ISSUE,
            {
                "id": uuid.uuid4(),
                "token_hash": hashlib.sha256(token.encode()).digest(),
                "now": now,
                "expires_at": now + VALID_FOR,
            },
        )
    return {"token": token, "expires_at": (now + VALID_FOR).isoformat(), "path": "/v1/claim"}
