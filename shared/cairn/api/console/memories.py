"""Memories: found as an agent finds them, listed, opened, corrected, marked, deleted.

A form says what its page showed (`seen`); when the memory is something else by now, that is told
and nothing is changed. Not forgetting, which destroys keys (`forgetting.py`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.cited import page_of
from cairn.api.console.forms import day_of, number_of, wrong_field
from cairn.api.console.guard import form_from
from cairn.api.console.memory_deeds import (
    OPPOSITES,
    Deed,
    deed_of,
    do,
    do_each,
    done_query,
    undo,
    unpacked,
)
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.graph.node import State
from cairn.kernel.access import Scope
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.memories.edit_plan import EDITABLE
from cairn.memories.kinds import MemoryKind
from cairn.reading.views import LedgerFilter, MemoryFilter, MemoryVersion, MemoryView
from cairn.recall.query import SearchRequest
from cairn.recall.walks.lineage import LineageRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.api.console.guard import Visitor

MEMORIES = "/console/memories"
PER_PAGE, HITS, READERS = 25, 10, 10
STATES = tuple(state.value for state in State if state is not State.DELETED)
routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The ledger position a page shows, and when that was; `head` is the newest there is."""

    head: int
    position: int | None = None
    at: datetime | None = None

    @property
    def is_past(self) -> bool:
        """Whether the page shows another time than now."""
        return self.position is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the list was asked for, as its form writes it; empty texts mean any."""

    q: str = ""
    client: str = ""
    kind: str = ""
    state: str = "active"
    since: str = ""
    until: str = ""

    def link(self, **more: object) -> str:
        """Return the path of the list with this selection and what else is to be said."""
        values = {name: getattr(self, name) for name in self.__slots__} | more
        filled = {name: value for name, value in values.items() if value not in ("", None)}
        if filled.get("state") == "active":
            del filled["state"]
        return pages.with_query(MEMORIES, filled)

    def where(self, moment: Moment) -> MemoryFilter:
        """Return what the list shows."""
        return MemoryFilter(
            type=MemoryKind(self.kind) if self.kind else None,
            client_id=self.client or None,
            state=None if self.state == "any" else self.state,
            occurred_from=day_of(self.since, "since"),
            occurred_to=day_of(self.until, "until"),
            as_of=moment.position,
        )

    def question(self, moment: Moment) -> SearchRequest:
        """Return what recall is asked; other states than active come with superseded ones."""
        return SearchRequest(
            query=self.q,
            limit=HITS,
            kinds=(self.kind,) if self.kind else (),
            client_id=self.client or None,
            occurred_from=day_of(self.since, "since"),
            occurred_to=day_of(self.until, "until"),
            include_superseded=self.state in ("superseded", "any"),
            as_of=moment.position,
        )

    def command(self, moment: Moment) -> str:
        """Return the same as a command."""
        values = {
            "client": self.client,
            "kind": self.kind,
            "from": _midnight(self.since),
            "to": _midnight(self.until),
            "as-of": str(moment.position) if moment.is_past else "",
        }
        more = "".join(f" --{name} {pages.quoted(text)}" for name, text in values.items() if text)
        if self.q:
            past = " --superseded" if self.question(moment).include_superseded else ""
            return f"cairn recall {pages.quoted(self.q)} --limit {HITS} --explain{more}{past}"
        return f"cairn memory list --state {self.state}{more}"

    def call(self, moment: Moment) -> tuple[str, str]:
        """Return the same as a call of the API: its path, and its body where it has one."""
        values: dict[str, Any] = {
            "client_id": self.client,
            "occurred_from": _midnight(self.since),
            "occurred_to": _midnight(self.until),
            "as_of": moment.position,
        }
        filled = {name: value for name, value in values.items() if value not in ("", None)}
        if not self.q:
            kind = {"type": self.kind} if self.kind else {}
            return f"/v1/memories?{urlencode({'state': self.state, **kind, **filled})}", ""
        body: dict[str, Any] = {"query": self.q, "limit": HITS, **filled}
        if self.kind:
            body["kinds"] = [self.kind]
        if self.question(moment).include_superseded:
            body["include_superseded"] = True
        return "/v1/search", json.dumps(body, ensure_ascii=False)


def _midnight(day: str) -> str:
    return f"{day}T00:00:00Z" if day else ""


def selection_of(query: Mapping[str, str]) -> Selection:
    """Return what a list is asked for; ValidationFailed for a kind or a state there is not."""
    chosen = Selection(
        **{name: query[name].strip() for name in Selection.__slots__ if query.get(name)}
    )
    if chosen.kind and chosen.kind not in frozenset(MemoryKind):
        raise wrong_field("kind", f"is one of {', '.join(MemoryKind)}")
    if chosen.state not in (*STATES, "any"):
        raise wrong_field("state", f"is one of {', '.join(STATES)}, any")
    return chosen


def moment_of(visitor: Visitor, query: Mapping[str, str]) -> Moment:
    """Return which position a page shows; the end of its slider is now, whatever came since."""
    browse = visitor.services.browse
    head = browse.get_status(visitor.principal).ledger_position
    text, end = query.get("as_of", ""), query.get("head", "")
    if not text or text == end:
        return Moment(head=head)
    position = number_of(text)
    if position is None or position > 2**53 - 1:
        raise wrong_field("as_of", "is a position of the ledger")
    if position >= head:
        return Moment(head=head)
    where = LedgerFilter(from_position=max(position, 1))
    entries = browse.list_ledger(visitor.principal, where, limit=1, after=None).items
    at = entries[0].recorded_at if entries else None
    return Moment(head=head, position=position, at=at)


# Finding


@routes.get(MEMORIES)
def show_memories(request: Request, visitor: Reader) -> Response:
    """Show what a question finds with the reasons, or what there is, newest first."""
    query = request.query_params
    chosen, moment = selection_of(query), moment_of(visitor, query)
    listed = _hits(visitor, chosen, moment) if chosen.q else _page(visitor, chosen, moment, query)
    return shown(
        request,
        visitor,
        "memories.html",
        chosen=chosen,
        moment=moment,
        states=STATES,
        kinds=tuple(MemoryKind),
        notice_of=_notice(query),
        page_of=page_of,
        here=chosen.link(as_of=moment.position),
        **listed,
    )


def _page(
    visitor: Visitor, chosen: Selection, moment: Moment, query: Mapping[str, str]
) -> dict[str, Any]:
    page = visitor.services.browse.list_memories(
        visitor.principal,
        chosen.where(moment),
        limit=PER_PAGE,
        after=number_of(query.get("after", "")),
    )
    older = None
    if page.next_after is not None:
        older = chosen.link(as_of=moment.position, after=page.next_after)
    return {"memories": page.items, "hits": None, "meta": None, "older": older}


def _hits(visitor: Visitor, chosen: Selection, moment: Moment) -> dict[str, Any]:
    services = visitor.services
    answer = services.search(visitor.principal, chosen.question(moment))
    reasons: dict[str, Mapping[str, Any]] = {}
    try:
        explained = services.explain_search(visitor.principal, UUID(answer.meta["search_id"]))
        reasons = {row["node_id"]: row for row in explained["results"]}
    except NotFound:  # nothing was looked up, so nothing is kept of it
        pass
    hits = [{**row, "reason": reasons.get(row["node_id"])} for row in answer.results]
    return {"memories": (), "hits": hits, "meta": answer.meta, "older": None}


def _notice(query: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the page before did, and what takes it back."""
    deed, ids = query.get("done", ""), query.get("ids", "")
    if deed not in frozenset(Deed):
        return None
    counts = {name: query.get(name, "") for name in ("n", "refused")}
    numbers = {name: number_of(text) or 0 for name, text in counts.items()}
    return {"deed": Deed(deed), "ids": ids, "undo": Deed(deed) in OPPOSITES, **numbers}


# One memory


@routes.get(MEMORIES + "/{memory_id}")
def show_memory(memory_id: str, request: Request, visitor: Reader) -> Response:
    """Show a memory: what it says, where it is from, what it was, who is told of it."""
    return memory_page(request, visitor, id_of(memory_id))


def id_of(text: str) -> UUID:
    """Return an id; NotFound for what is none."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is no such memory.") from error


def memory_page(
    request: Request,
    visitor: Visitor,
    memory_id: UUID,
    *,
    status: int = 200,
    wrong: str = "",
    draft: Mapping[str, str] | None = None,
    moving: Mapping[str, str] | None = None,
) -> Response:
    """Return the page of a memory; `wrong` says why a form was refused, `draft` what it had.

    `moving` is what the form had that moves it.
    """
    query = request.query_params
    moment = moment_of(visitor, query)
    browse, principal = visitor.services.browse, visitor.principal
    memory = browse.get_memory(principal, memory_id)
    versions = browse.get_memory_history(principal, memory_id)
    version = at_moment(memory, versions, moment)
    return shown(
        request,
        visitor,
        "memory.html",
        status=status,
        memory=version,
        present=memory,
        versions=[_version_row(each) for each in reversed(versions)],
        moment=moment,
        origins=_origins(visitor, memory_id, moment),
        page_of=page_of,
        readers=visitor.services.explain_search.page(principal, node_id=memory_id, limit=READERS),
        editable=version is not None and not moment.is_past and memory.state in EDITABLE,
        seen=seen_of(memory),
        notice_of=_notice(query),
        wrong=wrong,
        draft=draft or {},
        moving=moving or {},
        scopes=[each.value for each in Scope],
        here=f"{MEMORIES}/{memory_id}",
    )


def at_moment(
    memory: MemoryView, versions: Sequence[MemoryVersion], moment: Moment
) -> MemoryView | None:
    """Return what the memory was at a moment, as one it corrects too; None before it was there."""
    if moment.position is None:
        return memory
    then = [
        each.memory
        for each in versions
        if each.from_position <= moment.position
        and (each.to_position is None or moment.position < each.to_position)
    ]
    standing = [each for each in then if each.state != State.SUPERSEDED]
    return next(iter([*reversed(standing), *reversed(then)]), None)


def _version_row(version: MemoryVersion) -> dict[str, Any]:
    own: Any = version.memory.metadata.get("cairn") or {}
    edit: Any = own.get("edit") or {}
    return {
        "position": version.from_position,
        "at": version.changed_at,
        "by": version.entry_type,
        "memory": version.memory,
        "how": edit.get("how", ""),
        "why": edit.get("reason", ""),
    }


def _origins(visitor: Visitor, memory_id: UUID, moment: Moment) -> Sequence[Any]:
    """Return what the memory comes from, nearest first; nothing when it was not there then."""
    request = LineageRequest(node_id=memory_id, max_depth=2, as_of=moment.position)
    try:
        lineage = visitor.services.lineage(visitor.principal, request)
    except NotFound:
        return ()
    return [each for each in lineage.nodes if each.depth][:10]


def seen_of(memory: MemoryView) -> str:
    """Return what a form says it saw: a change of another person makes it something else."""
    return f"{memory.state}.{int(memory.pinned)}.{int(memory.never_recall)}"


# Changing one


@routes.post(MEMORIES + "/{memory_id}/correct")
def correct(memory_id: str, request: Request, body: Body) -> Response:
    """Put a new version in a memory's place; what somebody else did meanwhile is told."""
    visitor, form = form_from(request, body)
    id_ = id_of(memory_id)
    changes: dict[str, Any] = {"text": form.get("text", "")}
    if (importance := number_of(form.get("importance", ""))) is not None:
        changes["importance"] = importance
    try:
        edited = visitor.services.edit_memories.correct(
            visitor.principal, id_, changes, reason=form.get("reason", "")
        )
    except Conflict as error:
        standing = error.fields.get("superseded_by") if error.reason == "replaced" else memory_id
        return memory_page(
            request, visitor, UUID(str(standing)), status=409, wrong=collision(error), draft=form
        )
    except ValidationFailed as error:
        return memory_page(request, visitor, id_, status=422, wrong=error.detail, draft=form)
    return pages.go_to(f"{MEMORIES}/{edited.id}?{done_query(Deed.CORRECTED, [edited.id])}")


MOVED_ON = (
    "Somebody changed this memory while you read it. Nothing was done: this is how it stands now. "
    "Do it again if you still want to."
)


def collision(error: Conflict) -> str:
    """Return what is said of a form that meant a memory which somebody has changed meanwhile."""
    if error.reason != "replaced":
        return error.detail
    return (
        "Somebody changed this memory while you wrote. Nothing was overwritten: this is what it "
        "says now, and your text is in the form below. Do it again, or leave it."
    )


@routes.post(MEMORIES + "/{memory_id}/deed")
def change(memory_id: str, request: Request, body: Body) -> Response:
    """Pin a memory, keep it from recall, delete it, or take that back."""
    visitor, form = form_from(request, body)
    id_, deed = id_of(memory_id), deed_of(form)
    memory = visitor.services.browse.get_memory(visitor.principal, id_)
    if form.get("seen") != seen_of(memory):
        return memory_page(request, visitor, id_, status=409, wrong=MOVED_ON)
    try:
        done = do(visitor, id_, deed, form.get("reason", ""))
    except Conflict as error:
        return memory_page(request, visitor, id_, status=409, wrong=error.detail)
    where = MEMORIES if deed is Deed.DELETED else f"{MEMORIES}/{done}"
    return pages.go_to(f"{where}?{done_query(deed, [done])}")


# Several, and back


@routes.post(MEMORIES + "/several")
def change_several(request: Request, body: Body) -> Response:
    """Mark or delete every memory that was ticked; those that refuse are counted."""
    visitor, form = form_from(request, body)
    ids = [id_of(name.removeprefix("id.")) for name in form if name.startswith("id.")]
    if not ids:
        raise ValidationFailed("Tick one memory at least, then choose what to do with it.")
    deed = deed_of(form)
    if deed is Deed.MERGED:
        return pages.go_to(merge_path(ids))
    done = do_each(visitor, ids, deed)
    return pages.go_to(f"{MEMORIES}?{done_query(deed, done.ids, done.refused)}")


def merge_path(ids: Sequence[UUID]) -> str:
    """Return the page that makes one memory of two; ValidationFailed for any other number."""
    if len(ids) != 2:
        raise ValidationFailed("Two memories become one: tick two, no more and no fewer.")
    return f"{MEMORIES}/{ids[0]}/merge?{urlencode({'other': ids[1]})}"


@routes.post(MEMORIES + "/undo")
def take_back(request: Request, body: Body) -> Response:
    """Take back what a notice says was done, as far as nobody else has changed it since."""
    visitor, form = form_from(request, body)
    deed, done = undo(visitor, unpacked(form.get("ids", "")), deed_of(form))
    where = f"{MEMORIES}/{done.ids[0]}" if len(done.ids) == 1 else MEMORIES
    return pages.go_to(f"{where}?{done_query(deed, done.ids, done.refused)}")
