"""What an investigation is shown beside its ticket: facts of the customer, tickets like it, hints.

Implements `Surrounds`. Words of other customers' tickets are never shown, only that there are some.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from cairn.investigations import citations
from cairn.investigations.journal import Opener, Sealed
from cairn.investigations.ports import ActionState
from cairn.investigations.run.moving import read
from cairn.investigations.state import Evidence
from cairn.investigations.tool_calls import arguments_in, cut
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.text.elements import one_line
from cairn.kernel.text.words import content_words
from cairn.ledger.keys import BodyUnreadable
from cairn.recall.query import MAX_RESULTS, SearchRequest
from cairn.recall.rendering import citation_of
from cairn.safety.screening import screen
from cairn.tickets import sealing
from cairn.tickets.sealing import customer_key, owners_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.memory_records import MemoryEdge, MemoryNode
    from cairn.investigations.hiding import Hider
    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import ActionRow, Situation
    from cairn.investigations.state import Investigation
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.text.json_value import JsonValue
    from cairn.recall.records import FoundNode
    from cairn.recall.results import RecallResult
    from cairn.tickets.ticket import Ticket
    from cairn.workspace.settings import EnvelopeSettings
    from cairn.writing.platform import Platform


RECIPE = "knowledge"
GLOBAL = "global"
PARTS_OVERFETCH = 4
"""Times more is asked for than wanted: a part of a document may be found more than once."""


Recalls: TypeAlias = "Callable[[Principal, SearchRequest], RecallResult]"
"""Searches the memory: `recall.Recall`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeRecaller:
    """Searches documents by the recipe `knowledge`; a customer sees their own and everybody's."""

    recall: Recalls

    def __call__(
        self, workspace_id: UUID, query: str, *, customer: str, limit: int = 6
    ) -> Sequence[Evidence]:
        """Return what was found, each with its citation; Unavailable when recall cannot answer."""
        mine = tuple(
            dict.fromkeys(item for item in (GLOBAL, customer, customer_key(customer)) if item)
        )
        most = min(limit * PARTS_OVERFETCH, MAX_RESULTS)
        request = SearchRequest(
            query=query, recipe=RECIPE, limit=most, clients=mine, min_relevance=0.0
        )
        answer = self.recall(system_principal(workspace_id), request)
        best: dict[str, Evidence] = {}
        for node in (result.node for result in answer.results if result.node.client_id in mine):
            cited = citation_of(node)
            best.setdefault(cited, Evidence(citation=cited, text=_text(node), node_id=node.id))
        return list(best.values())[:limit]


def _text(node: FoundNode) -> str:
    """Return what a node says: its summary where it has no text of its own."""
    return node.text or node.summary or node.title or ""


MOST = 3
"""Earlier investigations that are told of, the newest."""

CALLS = 50
"""Calls of each that are looked at, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Tells of a ticket's earlier investigations: verdict, tools, answer. Not hidden yet."""

    journal: Journal

    def __call__(self, situation: Situation, ticket: Ticket) -> Sequence[str]:
        """Return a text for each, the oldest first; none for a ticket's first investigation."""
        own = situation.investigation.id
        with self.journal.reading(situation.workspace_id) as stores:
            page = stores.investigations.page(
                before=None, limit=MOST + 1, state=None, ticket_id=ticket.id
            )
            earlier = [item for item in page if item.id != own][:MOST]
            calls = [
                stores.actions.page(
                    investigation_id=item.id, connector=None, before=None, limit=CALLS
                )
                for item in earlier
            ]
        pairs = zip(earlier, calls, strict=True)
        texts = [
            _history_line(earlier_ticket, did, ticket.answers.get(earlier_ticket.id, ""))
            for earlier_ticket, did in pairs
        ]
        return texts[::-1]


def _history_line(investigation: Investigation, calls: Sequence[ActionRow], answer: str) -> str:
    ended = investigation.verdict.value if investigation.verdict else "failed"
    sent = (call for call in reversed(calls) if call.state is not ActionState.PROPOSED)
    did = ", ".join(dict.fromkeys(f"{item.connector}.{item.tool} ({_came(item)})" for item in sent))
    parts = [f"An earlier investigation of this ticket ended as {ended}."]
    parts += [f"It called: {did}."] if did else []
    parts += [f"It answered:\n{citations.without(answer)}"] if answer else []
    return " ".join(parts)


def _came(call: ActionRow) -> str:
    return f"{call.state.value}, dry run" if call.dry_run else call.state.value


OVERFETCH = 4
"""Times more calls are read than are shown: the same may have been asked more than once."""

MAX_CHARS = 1_000
"""Of a result that is kept; planners are shown less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentResults:
    """Finds recent results of tools, as many and as old as a workspace's envelope may hold."""

    journal: Journal
    bounds: Callable[[UUID], EnvelopeSettings]

    def __call__(self, situation: Situation, ticket: Ticket, hide: Hider) -> tuple[Evidence, ...]:
        """Return each tool's newest answer to a question, the newest first.

        Only values of what is returned come into the vault: its owners are known, and can forget.
        """
        workspace_id = situation.workspace_id
        bounds = self.bounds(workspace_id)
        most, seconds = bounds.connector_recent_results, bounds.connector_recent_seconds
        if not most or not seconds:
            return ()
        rows = self._rows(situation, ticket, most * OVERFETCH, timedelta(seconds=seconds))
        vault_of = cache(partial(self._vault, workspace_id))
        evidence: dict[str, Evidence] = {}
        for row in rows:
            before, content = hide.vault, self._opened(workspace_id, row)
            vault = vault_of(row.investigation_id) if content is not None else None
            result = _action_texts(row, content, vault, hide)
            if result is None or result[0] in evidence or screen(result[1]).injection:
                hide.vault = before
                continue
            evidence[result[0]] = Evidence(citation=citations.tool(row.id), text=result[1])
            if len(evidence) == most:
                break
        return tuple(evidence.values())

    def _rows(
        self, situation: Situation, ticket: Ticket, most: int, window: timedelta
    ) -> Sequence[ActionRow]:
        """Return calls for the ticket's customer's tickets; for its requester's without one."""
        owners = owners_of(ticket)[:1]
        with self.journal.reading(situation.workspace_id) as stores:
            subjects = stores.subjects.find(owners)
            return stores.actions.recent(
                ticket.id,
                situation.investigation.id,
                owner=next(iter(subjects.values()), None),
                alone=any(kind == "person" for kind, _ in owners),
                since=self.journal.platform.clock() - window,
                limit=most,
            )

    def _opened(self, workspace_id: UUID, row: ActionRow) -> dict[str, JsonValue] | None:
        """Return a call's arguments and result; None where nobody can read them any more."""
        sealed = [
            Sealed(id=row.id, data_subjects=row.data_subjects, body=body)
            for body in (row.input, row.output)
        ]
        try:
            opener = Opener(keys=self.journal.platform.keys, cipher=self.journal.platform.cipher)
            question, came = opener(workspace_id, sealed)
        except BodyUnreadable:
            return None
        arguments = arguments_in(question or {})
        if arguments is None or came is None:
            return None
        return {"arguments": arguments, "text": str(came.get("text", ""))}

    def _vault(self, workspace_id: UUID, investigation_id: UUID | None) -> Mapping[str, str] | None:
        """Return what the placeholders of a call stand for; None where nobody knows any more."""
        if investigation_id is None:
            return None
        try:
            return read(self.journal, workspace_id, investigation_id).memory.vault
        except (BodyUnreadable, NotFound):
            return None


def _action_texts(
    row: ActionRow,
    content: Mapping[str, JsonValue] | None,
    vault: Mapping[str, str] | None,
    hide: Hider,
) -> tuple[str, str] | None:
    """Return what was asked, and that with what came of it, in this investigation's placeholders.

    None for what cannot be hidden again.
    """
    if content is None or vault is None:
        return None
    try:
        moved = cast("dict[str, JsonValue]", hide.moved(dict(content), vault))
    except ValidationFailed:
        return None
    arguments = json.dumps(moved["arguments"], sort_keys=True, ensure_ascii=False)
    call = f"{row.connector}.{row.tool} {arguments}"
    came = citations.without(str(moved["text"]))
    return call, cut(f"{call} at {row.completed_at:%Y-%m-%d %H:%M:%S} UTC: {came}", MAX_CHARS)


WINDOW = timedelta(hours=24)
MOST_RECENT = 200
"""Tickets of the last day that are compared with a new one."""

RELATIONS = ("HAS_FACT", "PREFERS", "USES", "WORKS_WITH")
ALIKE = 0.25
"""Share of their words that two tickets of one problem have in common."""

SAME = 0.8
"""The same of two tickets that say the same."""

BURST = 5
"""Tickets alike within the window that are more than chance."""

BODY_CHARS = 1_000
TEXT_CHARS = 500
_TEXTS = ("text", "fact", "statement", "value", "title", "name")


class Neighbours(Protocol):
    """The memory graph, as far as it is needed here."""

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None: ...
    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]: ...


@dataclass(frozen=True, slots=True)
class RecentTickets:
    """Tickets of late with what they say; those about somebody forgotten are left out."""

    platform: Platform

    def __call__(self, workspace_id: UUID, since: datetime) -> Sequence[Ticket]:
        """Return the newest first, `MOST_RECENT` at most."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            rows = stores.tickets.since(since, MOST_RECENT)
        sealed = sealing.Sealed(keys=self.platform.keys, cipher=self.platform.cipher)
        texts = sealed.tickets(workspace_id, rows)
        return [
            sealing.ticket_of(workspace_id, row, texts[row.id]) for row in rows if row.id in texts
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSurrounds:
    """Looks around a ticket in the graph and among the tickets of the last day."""

    graph: Neighbours
    recent: Callable[[UUID, datetime], Sequence[Ticket]]
    bounds: Callable[[UUID], EnvelopeSettings]
    clock: Clock

    def __call__(
        self, workspace_id: UUID, ticket: Ticket
    ) -> tuple[Sequence[Evidence], Sequence[Evidence], Sequence[str]]:
        """As `Surrounds`."""
        bounds = self.bounds(workspace_id)
        others = [
            item
            for item in self.recent(workspace_id, self.clock() - WINDOW)
            if item.id != ticket.id and item.received_at <= ticket.received_at
        ]
        shares = [(_share(ticket, other), other) for other in others]
        alike = [(share, similar_ticket) for share, similar_ticket in shares if share >= ALIKE]
        alike.sort(key=lambda pair: (-pair[0], pair[1].id))
        own = [
            similar_ticket for _, similar_ticket in alike if _same_customer(ticket, similar_ticket)
        ]
        similar = [_shown(item) for item in own[: bounds.similar]]
        return self._facts(workspace_id, ticket, bounds.facts), similar, _hints(ticket, alike)

    def _facts(self, workspace_id: UUID, ticket: Ticket, most: int) -> list[Evidence]:
        key = customer_key(ticket.customer)
        node = self.graph.get_node(workspace_id, "customer", f"customer:{key}") if key else None
        if node is None or not node.visible or not most:
            return []
        neighbours = self.graph.neighbors(
            workspace_id, node.id, depth=1, relations=RELATIONS, limit=most
        )
        facts = [_fact(each, edge) for each, edge in neighbours]
        return [fact for fact in facts if fact is not None]


def _fact(node: MemoryNode, edge: MemoryEdge) -> Evidence | None:
    """Return what a node says, with how it came to be known; None when it says nothing."""
    text_of_node = _node_text(node.dump.properties)
    if not text_of_node:
        return None
    text = f"{edge.dump.relation}: {text_of_node} ({node.dump.provenance.value})"
    return Evidence(citation=citations.memory(node.id), text=text, node_id=node.id)


def _node_text(properties: Mapping[str, Any]) -> str:
    text = next((str(properties[name]) for name in _TEXTS if properties.get(name)), "")
    if text:
        return one_line(text)[:TEXT_CHARS]
    left = {name: value for name, value in properties.items() if name != "data_subjects"}
    return one_line(json.dumps(left, sort_keys=True, default=str))[:TEXT_CHARS] if left else ""


def _shown(ticket: Ticket) -> Evidence:
    text = one_line(f"{ticket.title}. {ticket.body}")[:TEXT_CHARS]
    status_text = f"({ticket.status.value}) {text}"
    return Evidence(citation=citations.ticket(ticket.id), text=status_text)


def _hints(ticket: Ticket, alike: Sequence[tuple[float, Ticket]]) -> list[str]:
    hints: list[str] = []
    same = [
        similar_ticket
        for share, similar_ticket in alike
        if share >= SAME and _same_customer(ticket, similar_ticket)
    ]
    if same:
        where = citations.ticket(same[0].id)
        hints.append(f"This looks like a duplicate of a ticket of the last 24 hours {where}.")
    if len(alike) + 1 >= BURST:
        customers = len({customer_key(similar_ticket.customer) for _, similar_ticket in alike})
        hints.append(
            f"A burst: {len(alike) + 1} tickets like this one within 24 hours, of {customers} "
            "customers."
        )
    return hints


def _same_customer(first: Ticket, other: Ticket) -> bool:
    key = customer_key(first.customer)
    if key is None:
        mine = first.requester_email
        return mine is not None and mine == other.requester_email
    return key == customer_key(other.customer)


def _share(first: Ticket, other: Ticket) -> float:
    """Return the share of words two tickets have in common, 0 to 1."""
    mine, theirs = _words(first), _words(other)
    both = mine | theirs
    return len(mine & theirs) / len(both) if both else 0.0


def _words(ticket: Ticket) -> frozenset[str]:
    return frozenset(content_words(f"{ticket.title} {ticket.body[:BODY_CHARS]}"))
