"""Look for a forgotten subject in every store there is, and say what was looked at.

Not the forgetting. Whether a store can be searched at all is told for each; what cannot (backups,
the log that a database recovers from) is named, never counted as clean.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cairn.graph.technologies import canonical_technology
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from uuid import UUID

    from cairn.forgetting.forget import Target
    from cairn.forgetting.ports import Forgetting
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.keys import KeyStore


MOST_CANARIES = 50
SHORTEST_CANARY, LONGEST_CANARY = 3, 500
KEEPS_IDS = frozenset(
    f"{schema}.{table}"
    for schema in ("public", "replay")
    for table in (
        "ledger",
        "forgetting",
        "purged_node",
        "taint",
        "taint_node",
        "consolidation_run",
        "webhook_delivery",
        "investigation",
        "approval",
        "tool_call",
        "standing_grant",
        "escalation",
        "investigation_opinion",
        "kb_candidate",
    )
)
"""Where the random ids of the forgotten stay: that they are gone is written there."""

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w.-]{5,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needles:
    """What is looked for: texts, without regard to case, and ids of the subject and its nodes."""

    texts: tuple[str, ...]
    ids: tuple[UUID, ...] = ()

    def folded(self) -> list[str]:
        """Return the texts lower-case, and as they stand inside JSON where that differs."""
        folded = [text.lower() for text in self.texts]
        plain = [json.dumps(text, ensure_ascii=False)[1:-1] for text in folded]
        ascii_ = [json.dumps(text)[1:-1] for text in folded]
        return list(dict.fromkeys([*folded, *plain, *ascii_]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One place of a store: how many items were looked at, and in how many something was found.

    `searched` False: the place cannot be searched from here; `note` says why, and what becomes of
    what is in it.
    """

    store: str
    place: str
    items: int = 0
    found: int = 0
    searched: bool = True
    note: str = ""


Searcher: TypeAlias = "Callable[[UUID, Needles], Iterable[Looked]]"
"""Searches one store of a workspace. Reads only; raises Unavailable when it cannot be reached."""


Distinctive: TypeAlias = "Callable[[UUID, Collection[UUID]], Sequence[str]]"
"""Returns words of nodes' texts that no other node's text has."""


PurgedNodes: TypeAlias = "Callable[[UUID, UUID], Collection[UUID]]"
"""Returns which nodes a forgetting purged, from its entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was looked at. `clean`: nothing was found in any place that could be searched."""

    forgetting_id: UUID | None
    subject_id: UUID | None
    clean: bool
    canaries: int
    places: tuple[Looked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySearcher:
    """The key store: whether a key of one of the ids is there."""

    keys: KeyStore

    def __call__(self, workspace_id: UUID, needles: Needles, /) -> Iterable[Looked]:
        """Ask for the keys of the ids."""
        keys = self.keys.get(workspace_id, needles.ids)
        return [Looked(store="keys", place="keys", items=len(needles.ids), found=len(keys))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prove:
    """Searches every store. Canaries are held for the length of a call, and kept nowhere."""

    transactions: Transactions[Stores]
    purged: PurgedNodes
    searchers: Sequence[Searcher]
    distinctive: Distinctive
    not_searched: tuple[Looked, ...] = ()

    def __call__(
        self, principal: Principal, forgetting_id: UUID, canaries: Sequence[str] = ()
    ) -> Proof:
        """Look for what was forgotten by its ids, and by the canaries given.

        NotFound for a forgetting of another workspace, ValidationFailed for bad canaries.
        """
        principal.require(Role.ADMIN)
        texts = checked(canaries)
        workspace_id = principal.workspace_id
        row = self._row(workspace_id, forgetting_id)
        ids = (row.subject_id, *self.purged(workspace_id, forgetting_id))
        needles = Needles(texts=texts, ids=ids)
        return self._proof(workspace_id, needles, forgetting_id, row.subject_id)

    def before(
        self,
        principal: Principal,
        target: Target,
        node_ids: Sequence[UUID],
        canaries: Sequence[str],
    ) -> tuple[Proof, tuple[str, ...]]:
        """Look for what is not forgotten yet; return the proof, and the canaries it took.

        Those are the ones given, the subject's name, and words that only its nodes' texts have.
        """
        principal.require(Role.ADMIN)
        workspace_id = principal.workspace_id
        names = [target.name[1]] if target.name else []
        taken = self.distinctive(workspace_id, node_ids)
        texts = checked([*canaries, *names, *taken][:MOST_CANARIES])
        needles = Needles(texts=texts, ids=tuple(node_ids))
        return self._proof(workspace_id, needles, None, target.subject_id), texts

    def _proof(
        self,
        workspace_id: UUID,
        needles: Needles,
        forgetting_id: UUID | None,
        subject_id: UUID | None,
    ) -> Proof:
        looked = (item for search in self.searchers for item in search(workspace_id, needles))
        places = (*looked, *self.not_searched)
        return Proof(
            forgetting_id=forgetting_id,
            subject_id=subject_id,
            clean=not any(place.found for place in places),
            canaries=len(needles.texts),
            places=places,
        )

    def _row(self, workspace_id: UUID, forgetting_id: UUID) -> Forgetting:
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            row = stores.forgetting.find(forgetting_id=forgetting_id)
        if row is None:
            raise NotFound("There is no such forgetting.", forgetting_id=str(forgetting_id))
        return row


def checked(canaries: Sequence[str]) -> tuple[str, ...]:
    """Return distinct canaries; ValidationFailed for too many, too short or too long ones."""
    texts = tuple(dict.fromkeys(canary.strip() for canary in canaries))
    if len(texts) > MOST_CANARIES:
        raise ValidationFailed(f"At most {MOST_CANARIES} canaries are taken.", reason="canaries")
    if any(not SHORTEST_CANARY <= len(text) <= LONGEST_CANARY or "\x00" in text for text in texts):
        raise ValidationFailed(
            f"A canary has {SHORTEST_CANARY} to {LONGEST_CANARY} characters.", reason="canaries"
        )
    return texts


def distinctive_words(texts: Iterable[str], *, most: int) -> tuple[str, ...]:
    """Return words that may be somebody's: long ones with a capital, a digit or a dash.

    Names like `tool.execute` are not: types of entries and events stand in clear. Nor are ids that
    an answer of a chat cites: the ledger names nodes by them. Nor technologies: logs name ours.
    """
    words = dict.fromkeys(
        word.strip(".-") for text in texts for word in _WORD.findall(_ID.sub(" ", text))
    )
    marked = [word for word in words if re.search(r"[\d-]|^[A-Z]", word) and len(word) >= 6]
    owned = [word for word in marked if canonical_technology(word) is None]
    return tuple(sorted(owned, key=lambda item: (-len(item), item))[:most])


OPENSEARCH = ("opensearch", "cairn-nodes-v*")
OPERATOR = (
    ("queues", "messages"),
    ("queues", "dead letters"),
    ("step-functions", "histories"),
    ("logs", "CloudWatch"),
    ("logs", "laptop files"),
)
"""What only an operator's credentials reach; `cairn forget --prove` looks there."""

NOT_SEARCHED = tuple(
    Looked(store=store, place=place, searched=False, note=note)
    for store, place, note in (
        ("memory", "lenses", "asked for by nobody who is gone; out of memory after an hour"),
        ("memory", "result cache", "not given once something changed; gone after 10 minutes"),
        ("memory", "key cache", "other processes may hold the key for 60 seconds"),
        ("database files", "dead rows", "until autovacuum has been at the table"),
        ("database files", "write-ahead log", "until it is recycled, as the server is set"),
        ("backups", "database", "as long as they are kept; a restore follows the tombstones"),
        ("backups", "key file", "only on a laptop, and only if somebody made one"),
        ("opensearch", "deleted documents", "words stay in a segment until it is merged"),
        ("anchors", "tombstones", "ids, a position and a time, signed; kept on purpose"),
        ("exports", "files", "what was exported before is where it was taken to"),
        ("webhooks", "receivers", "what was sent is the receiver's; events carry ids only"),
        ("model providers", "requests", "texts sent to a chat or embedding server are theirs"),
    )
)
