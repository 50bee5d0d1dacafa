"""What applying, lifting and reading a taint answer. The API makes its schemas of these."""

from dataclasses import dataclass
from uuid import UUID

from cairn.writing.taint_views import SeenIn, TaintView, UsedIn


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintReport:
    """A taint with what has already come of it: actions and searches that used tainted nodes."""

    taint: TaintView
    actions: tuple[UsedIn, ...]
    searches: tuple[SeenIn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tainted:
    """What applying did. `held` nodes went out of recall by this call.

    `complete` False: time or the bound was met; the same request again goes on. For a dry run
    there is no `taint_id`, and `held` is what would be held. `node_ids` are some of them.
    """

    taint_id: UUID | None
    held: int
    complete: bool
    dry_run: bool
    node_ids: tuple[UUID, ...]
    actions: tuple[UsedIn, ...]
    searches: tuple[SeenIn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintLifted:
    """What lifting did: `restored` nodes are back. `complete` False: ask again."""

    taint_id: UUID
    restored: int
    complete: bool
