"""What the API needs of rebuilds: use-case callables, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.rebuild.runs import RebuildView


class StartRebuild(Protocol):
    """Keep a rebuild and wake the machine; Denied unless an admin asks."""

    def __call__(self, principal: Principal, /, *, check: bool = False) -> RebuildView: ...


class ShowRebuild(Protocol):
    """Return a rebuild; Denied unless an admin asks, NotFound for another workspace's too."""

    def __call__(self, principal: Principal, rebuild_id: UUID, /) -> RebuildView: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildServices:
    """The use cases of rebuilds."""

    start: StartRebuild
    show: ShowRebuild
