"""Replay a page of a ledger into the replica: verify, open, project, apply; its records.

Order matters (a change needs the row it changes), so pages follow one another; within a page what
commutes is applied together.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast
from uuid import UUID

from cairn.enrichment import recipes
from cairn.enrichment.ports import NewEmbedding
from cairn.kernel.errors import Conflict
from cairn.ledger.chain import head_of
from cairn.ledger.keys import key_subjects
from cairn.ledger.verify import fault_of
from cairn.recall.subscriptions import CHANGED, changed_subscription
from cairn.workspace import rows as settings_rows
from cairn.writing import projectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from cairn.enrichment.recipes import NodeRecipe
    from cairn.graph.projection import Projection
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Entry, Head
    from cairn.ledger.keys import BodyCipher, KeyStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSum:
    """The content of one projection: how many rows, and a checksum (32 hex characters)."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a replay is. `version` is of the code that began it, `since` the head it saw then.

    `head` is the entry reached, as the end of the chain so far.
    """

    version: str
    since: int
    head: Head
    entries: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What putting the replayed rows in place changed: rows removed and added, by table."""

    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    added: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def rows(self) -> int:
        """Return how many rows that is."""
        return sum(self.removed.values()) + sum(self.added.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Applies entries to rows that stand beside the ledger: those of areas above this one.

    `apply` takes every entry in order, one whose keys are gone too; `version` is of its code.
    """

    version: str
    apply: Callable[[Opened, Stores, BodyCipher], None]


class Replays(Protocol):
    """Opens the transactions of a rebuild. Leaving the block commits; an exception rolls back."""

    def replaying(self, principal: Principal) -> AbstractContextManager[Stores]:
        """Open one that fills the replica; writers of the workspace do not wait for it."""
        ...

    def comparing(self, principal: Principal) -> AbstractContextManager[Stores]:
        """Open one that sees one moment of the database; writers do not wait for it."""
        ...

    def finishing(self, principal: Principal) -> AbstractContextManager[Stores]:
        """Open one that holds the workspace's ledger head; writers wait, readers do not.

        Raises Unavailable (`ledger-busy`) when the head cannot be had in time.
        """
        ...


def as_json(sums: Mapping[str, TableSum]) -> dict[str, Any]:
    """Return checksums as people and machines are told them."""
    return {
        name: {"rows": table_sum.rows, "checksum": table_sum.checksum}
        for name, table_sum in sums.items()
    }


VECTORS_AT_ONCE = 200
"""Nodes whose vectors are made and sent together: some hundred kilobytes each time."""

PORTION = 100
"""Entries projected and sent together."""

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An entry and its body in clear, and the keys it was opened by; None without `keyless`."""

    entry: Entry
    body: Body | None
    keyless: tuple[UUID, ...] = ()
    keys: Mapping[UUID, bytes] = field(default_factory=dict[UUID, bytes], repr=False)


def checked(entries: Sequence[Entry], head: Head) -> Head:
    """Return the head after the entries; Conflict (`ledger-broken`) where one is bad."""
    for entry in entries:
        fault = fault_of(entry, head)
        if fault is not None:
            raise Conflict(
                f"The ledger is broken at position {head.position + 1}: {fault.value}.",
                reason="ledger-broken",
                first_bad_position=head.position + 1,
            )
        head = head_of(entry)
    return head


def opened(entries: Sequence[Entry], keys: KeyStore, cipher: BodyCipher) -> list[Opened]:
    """Open the bodies of entries of one workspace. BodyUnreadable for one that was altered."""
    owners = {
        entry.id: key_subjects(entry.workspace_id, entry.data_subjects)
        for entry in entries
        if entry.body
    }
    subjects_needed = {subject for subjects in owners.values() for subject in subjects}
    held = keys.get(entries[0].workspace_id, subjects_needed)
    results: list[Opened] = []
    for entry in entries:
        if not entry.body:
            results.append(Opened(entry=entry, body={}))
            continue
        subjects = owners[entry.id]
        keyless = tuple(subject for subject in subjects if subject not in held)
        body: Body | None = None
        if not keyless:
            body = cipher.open(entry.id, entry.workspace_id, subjects, held, entry.body)
        own = {subject: held[subject] for subject in subjects if subject in held}
        results.append(Opened(entry=entry, body=body, keyless=keyless, keys=own))
    return results


class _Texts(dict[UUID, str]):
    """Texts of nodes; of one that did not come back, nothing."""

    def __missing__(self, node_id: UUID) -> str:
        return ""


def replay(page: Sequence[Opened], stores: Stores) -> None:
    """Do to the replica what these entries did when they were written; unreadable ones nothing.

    All reading comes first; then the database applies portions while the next ones are projected.
    """
    readable = [(opened.entry, opened.body) for opened in page if opened.body is not None]
    texts = _Texts(stores.replica.texts({i for entry, _ in readable for i in _referred(entry)}))
    node_recipes = [item for _, body in readable for item in recipes.read(body)]
    with stores.replica.streaming():
        for start in range(0, len(readable), PORTION):
            portion = readable[start : start + PORTION]
            stores.nodes.apply([_projected(entry, body, texts) for entry, body in portion])
            for entry, body in portion:
                _apply_other(entry, body, stores)
    _make_vectors(node_recipes, stores)


def _projected(entry: Entry, body: Body, texts: _Texts) -> Projection:
    projection = projectors.project(entry, body, texts)
    texts.update((row.id, row.text) for row in projection.nodes if row.text is not None)
    return projection


def _referred(entry: Entry) -> Iterator[UUID]:
    """Return the nodes whose texts an entry's projection puts together."""
    meta = cast("Mapping[str, Any]", entry.meta)
    for item in meta.get("context") or ():
        yield UUID(item)
    for _, context in meta.get("recontexted") or ():
        yield from (UUID(item) for item in context)


def _apply_other(entry: Entry, body: Body, stores: Stores) -> None:
    """Apply what is no node, edge or alias."""
    if entry.type == "data_subject.registered":
        stores.subjects.add(projectors.registered_subject(entry, body), entry.position)
    elif entry.type == CHANGED:
        stores.subscriptions.put(changed_subscription(entry, body))
    elif entry.type == "key.bound":
        meta = cast("Mapping[str, str]", entry.meta)
        key, conversation = UUID(meta["key_id"]), UUID(meta["conversation_id"])
        stores.conversations.bind(key, conversation, entry.position)
    elif entry.type == settings_rows.CHANGED:
        stores.settings.put(settings_rows.changed(entry))


def _make_vectors(node_recipes: Iterable[NodeRecipe], stores: Stores) -> None:
    """Mix vectors as the embed stage did, from the cache; keep what it no longer has."""
    last: dict[tuple[int, UUID], NodeRecipe] = {}
    for recipe in node_recipes:
        before = last.get((recipe.model_id, recipe.node_id))
        if before is None or before.position <= recipe.position:
            last[recipe.model_id, recipe.node_id] = recipe
    groups: dict[tuple[int, int], list[NodeRecipe]] = defaultdict(list)
    for item in last.values():
        groups[item.position, item.model_id].append(item)
    for (position, model_id), members in sorted(groups.items(), key=lambda group: group[0]):
        for start in range(0, len(members), VECTORS_AT_ONCE):
            some = members[start : start + VECTORS_AT_ONCE]
            _store_vectors(some, model_id, position, stores)


def _store_vectors(
    node_recipes: Sequence[NodeRecipe], model_id: int, position: int, stores: Stores
) -> None:
    hashes = {
        text for recipe in node_recipes for text in (*recipe.recipe.windows, *recipe.recipe.context)
    }
    vectors = stores.embeddings.cached(hashes, model_id)
    embeddings = [recipes.mixed(recipe.node_id, recipe.recipe, vectors) for recipe in node_recipes]
    rows = [item for item in embeddings if item is not None]
    supplied = {row.node_id for row in rows}
    lacking = [recipe.node_id for recipe in node_recipes if recipe.node_id not in supplied]
    rows += [NewEmbedding(node_id=item, vectors=()) for item in lacking]  # no stale one stays
    stores.embeddings.store(rows, model_id, position)
    stores.replica.supplied(supplied)
    stores.replica.lack(lacking)


@cache
def code_version() -> str:
    """Return a digest of the projectors' code: rows of another version are not gone on with."""
    folder = Path(projectors.__file__).parent
    digest = hashlib.sha256()
    for file in sorted([folder / "projectors.py", *folder.glob("*_rows.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Entries in order, verified and opened; `reached` is the head after the last of them."""

    entries: Sequence[Opened]
    reached: Head


def prepared(entries: Sequence[Entry], head: Head, keys: KeyStore, cipher: BodyCipher) -> Page:
    """Return the page that follows `head`. Raises what `checked` and `opened` raise."""
    reached = checked(entries, head)
    return Page(entries=opened(entries, keys, cipher), reached=reached)


class Prefetcher:
    """The page after the present one; what is wrong with it is raised when it is asked for."""

    def __init__(self, keys: KeyStore, cipher: BodyCipher) -> None:
        self._keys = keys
        self._cipher = cipher
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead")
        self._waiting: tuple[Head, Future[Page]] | None = None

    def __enter__(self) -> Self:
        """Begin with nothing ready."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the thread and drop what it has made."""
        self._worker.shutdown(cancel_futures=True)
        self._waiting = None

    def page(self, head: Head, read: Callable[[int], Sequence[Entry]]) -> Page | None:
        """Return the page after `head`, None at the end; the one after it is begun.

        `read` returns the entries above a position.
        """
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting[0] == head:
            page = waiting[1].result()
        else:
            entries = read(head.position)
            if not entries:
                return None
            page = prepared(entries, head, self._keys, self._cipher)
        self._begin(page.reached, read)
        return page

    def _begin(self, head: Head, read: Callable[[int], Sequence[Entry]]) -> None:
        entries = read(head.position)
        if entries:
            work = self._worker.submit(prepared, entries, head, self._keys, self._cipher)
            self._waiting = (head, work)
