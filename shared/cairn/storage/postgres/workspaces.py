"""What a workspace has set, and vectors it lacks. Not its keys, nor its accounts."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from cairn.access.system import system_principal
from cairn.safety.profiles import workspace_redaction
from cairn.storage.postgres.database import Database, bound
from cairn.storage.postgres.sql import query
from cairn.storage.postgres.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.access import Principal
    from cairn.clock import Clock, Stopwatch
    from cairn.ids import IdSource

LIFETIME_S = 60.0
TIMEOUT_MS = 2_000


class PostgresWorkspaceSettings:
    """Implements `retrieval.ports.WorkspaceSettings`; a process asks once a minute."""

    def __init__(self, database: Database, stopwatch: Stopwatch) -> None:
        self._database = database
        self._stopwatch = stopwatch
        self._known: dict[UUID, tuple[float, Mapping[str, Any]]] = {}
        self._lock = Lock()

    def __call__(self, principal: Principal) -> Mapping[str, Any]:
        """Return the settings, {} where nothing is set."""
        now = self._stopwatch()
        with self._lock:
            known = self._known.get(principal.workspace_id)
        if known is not None and now < known[0]:
            return known[1]
        with bound(self._database, principal, timeout_ms=TIMEOUT_MS) as connection:
            asked = {"workspace_id": principal.workspace_id}
            row = connection.execute(query("recall_setup.settings"), asked).fetchone()
        settings: Mapping[str, Any] = row[0] if row else {}
        with self._lock:
            self._known[principal.workspace_id] = (now + LIFETIME_S, settings)
        return settings


class PostgresRedaction(Store):
    """Implements `lifecycle.redaction.RedactionStore` over the workspace's settings."""

    def profile(self) -> str:
        """Return its name; the strictest where the settings name none that there is."""
        row = self.run("recall_setup.settings").fetchone()
        return workspace_redaction(row[0] if row else {})[0]

    def choose(self, profile: str) -> None:
        """Set it; other settings stay as they are."""
        self.run("workspace_settings.set_redaction", profile=profile)


class PostgresProfiles:
    """Implements `mcp_host.policies.Profiles`: what a workspace's settings say, read anew."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, workspace_id: UUID) -> str:
        """Return the name of its redaction profile; the strictest where the setting is none."""
        principal = system_principal(workspace_id)
        with bound(self._database, principal, timeout_ms=TIMEOUT_MS) as connection:
            return PostgresRedaction(connection, principal).profile()


class PostgresReindex:
    """Implements `retrieval.ports.Reindex` with a row of the outbox that the next sweep sends."""

    def __init__(
        self, database: Database, *, model_id: int, clock: Clock, new_id: IdSource
    ) -> None:
        self._database = database
        self._model_id = model_id
        self._clock = clock
        self._new_id = new_id

    def request(self, principal: Principal, node_ids: Sequence[UUID]) -> int:
        """Count those of the nodes that have no vector, and queue what is not on its way."""
        asked = {
            "workspace_id": principal.workspace_id,
            "id": self._new_id(),
            "ids": list(node_ids),
            "model_id": self._model_id,
            "now": self._clock(),
        }
        with bound(self._database, principal, timeout_ms=TIMEOUT_MS, read_only=False) as connection:
            row = connection.execute(query("recall_setup.reindex"), asked).fetchone()
        return row[0] if row else 0
