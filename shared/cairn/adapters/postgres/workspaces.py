"""What a workspace has set, and vectors it lacks. Not its keys, nor its accounts."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from cairn.adapters.postgres.database import Database, bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.access.system import system_principal
from cairn.safety.profiles import workspace_redaction
from cairn.workspace.documents import CurrentSettings, StoredSettings, read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.workspace.documents import Document

LIFETIME_S = 0.5
MOST_WORKSPACES = 4096
TIMEOUT_MS = 2_000


class PostgresSettings(Store):
    """What the workspace has set."""

    def stored(self) -> StoredSettings:
        """Return what is set; nothing in a workspace that there is not."""
        stored = self.first_of(record(StoredSettings), "workspace_settings.stored")
        return stored or StoredSettings()

    def put(self, settings: StoredSettings) -> None:
        """Keep a document; a change older than what is kept does nothing."""
        self.run(
            "workspace_settings.put",
            version=settings.version,
            document=Jsonb(dict(settings.document)),
            position=settings.position,
        )


class PostgresWorkspaceSettings:
    """Implements `ReadSettings`; a process asks for a workspace twice a second.

    `deployment` is what the environment says where a workspace says nothing.
    """

    def __init__(
        self, database: Database, stopwatch: Stopwatch, deployment: Document | None = None
    ) -> None:
        self._database = database
        self._stopwatch = stopwatch
        self._deployment = deployment
        self._known: OrderedDict[UUID, tuple[float, StoredSettings, CurrentSettings]] = (
            OrderedDict()
        )
        self._lock = Lock()

    def __call__(self, principal: Principal) -> CurrentSettings:
        """Return what holds, at most half a second old."""
        now = self._stopwatch()
        with self._lock:
            cached = self._known.get(principal.workspace_id)
        if cached is not None and now < cached[0]:
            return cached[2]
        with bound(self._database, principal, timeout_ms=TIMEOUT_MS) as connection:
            stored = PostgresSettings(connection, principal).stored()
        same = cached is not None and cached[1] == stored
        current = cached[2] if cached and same else read(stored.document, self._deployment)
        with self._lock:
            self._known[principal.workspace_id] = (now + LIFETIME_S, stored, current)
            self._known.move_to_end(principal.workspace_id)
            while len(self._known) > MOST_WORKSPACES:
                self._known.popitem(last=False)
        return current


class PostgresProfiles:
    """Implements `Profiles`: what a workspace's settings say, read anew."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, workspace_id: UUID) -> str:
        """Return the name of its redaction profile; the strictest where the setting is none."""
        principal = system_principal(workspace_id)
        with bound(self._database, principal, timeout_ms=TIMEOUT_MS) as connection:
            return workspace_redaction(PostgresSettings(connection, principal).stored().document)[0]


class PostgresReindex:
    """Implements `Reindex` with a row of the outbox that the next sweep sends."""

    def __init__(
        self, database: Database, *, model_id: int, clock: Clock, new_id: IdSource
    ) -> None:
        self._database = database
        self._model_id = model_id
        self._clock = clock
        self._new_id = new_id

    def request(self, principal: Principal, node_ids: Sequence[UUID]) -> int:
        """Count those of the nodes that have no vector, and queue what is not on its way."""
        parameters = {
            "workspace_id": principal.workspace_id,
            "id": self._new_id(),
            "ids": list(node_ids),
            "model_id": self._model_id,
            "now": self._clock(),
        }
        with bound(self._database, principal, timeout_ms=TIMEOUT_MS, read_only=False) as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(query("recall_setup.reindex"), parameters).fetchone() or 0
