"""Opens the sentences that stand sealed beside calls, words and candidates; None when forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cairn.investigations.opening import Opener, Sealed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.kernel.text.json_value import JsonValue


class Owned(Protocol):
    """A row with something sealed under its id for data subjects."""

    @property
    def id(self) -> UUID: ...
    @property
    def data_subjects(self) -> tuple[UUID, ...]: ...


def opened(
    journal: Journal, workspace_id: UUID, rows: Sequence[tuple[Owned, bytes]]
) -> list[Mapping[str, JsonValue] | None]:
    """Return what each row's bytes say, in order; None where nobody can read it any more."""
    sealed = [Sealed(id=row.id, data_subjects=row.data_subjects, body=body) for row, body in rows]
    return Opener(keys=journal.keys, cipher=journal.cipher)(workspace_id, sealed)


def said(body: Mapping[str, JsonValue] | None, name: str) -> str | None:
    """Return a text of a body; None without one."""
    found = body.get(name) if body else None
    return found if isinstance(found, str) else None
