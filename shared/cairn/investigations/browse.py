"""Reading investigations: the use cases behind the GET routes. Nothing is changed here.

Texts of steps are opened from the ledger, at the positions their rows name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations.journal import Sealed
from cairn.investigations.ports import QuestionView
from cairn.investigations.views import (
    InvestigationDetail,
    InvestigationView,
    LimitsView,
    SpentView,
    StepsView,
    StepView,
    ToolCallView,
)
from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import NotFound
from cairn.kernel.records import convert
from cairn.kernel.traces import trace_id_of
from cairn.tickets.personas import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.journal import Opener
    from cairn.investigations.ports import (
        ActionRow,
        ApprovalState,
        Progress,
        StepRow,
    )
    from cairn.investigations.state import Investigation, State
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.entry import Entry
    from cairn.tickets.personas import Persona

LINES = "lines"
"""The field of an entry's body that holds its lines of the timeline, each with `detail`."""

MAX_SHOWN_CHARS = 8_000
"""Of a tool call's input and of its output."""

CUT = "…"
MAX_ACTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseInvestigations:
    """Lists and shows investigations, steps and tool calls to admins and agents.

    What an investigation read, said and did is of the scope admin: a key without it gets Denied,
    and of tool calls those that it made itself.
    """

    transactions: Transactions[Stores]
    open: Opener

    def page(
        self,
        principal: Principal,
        *,
        state: State | None,
        ticket_id: UUID | None,
        before: UUID | None,
        limit: int,
    ) -> tuple[InvestigationView, ...]:
        """Return up to `limit` investigations made before one, the newest first."""
        _may_read(principal)
        with self.transactions.reading(principal) as stores:
            investigations = stores.investigations.page(
                before=before, limit=limit, state=state, ticket_id=ticket_id
            )
        return tuple(view_of(item) for item in investigations)

    def show(self, principal: Principal, investigation_id: UUID) -> InvestigationDetail:
        """Return one with its spending, budget, questions and actions; NotFound otherwise."""
        _may_read_all(principal)
        with self.transactions.reading(principal) as stores:
            investigation = _find_investigation(stores, investigation_id)
            spent = stores.costs.of_run(investigation_id)
            questions = stores.approvals.of(investigation_id)
            version = stores.personas.find(investigation.persona)
            actions = stores.actions.page(
                investigation_id=investigation_id,
                connector=None,
                session_id=None,
                before=None,
                limit=MAX_ACTIONS,
            )
        budget = limits_of(version.persona if version else DEFAULT)
        return InvestigationDetail(
            investigation=view_of(investigation),
            spent_by_purpose=tuple(spent),
            budget=budget,
            left=left_of(budget, view_of(investigation).spent),
            approvals=tuple(convert(each, QuestionView) for each in questions),
            actions=self._calls(principal.workspace_id, actions),
        )

    def glance(self, principal: Principal, investigation_id: UUID) -> InvestigationView:
        """Return where one is; NotFound for another workspace's too."""
        _may_read(principal)
        with self.transactions.reading(principal) as stores:
            return view_of(_find_investigation(stores, investigation_id))

    def progress(
        self, principal: Principal, investigation_ids: Collection[UUID]
    ) -> Mapping[UUID, Progress]:
        """Return how far each of these is, with one look; those that are not there are left out."""
        _may_read_all(principal)
        with self.transactions.reading(principal) as stores:
            return {each.id: each for each in stores.investigations.progress(investigation_ids)}

    def steps(
        self, principal: Principal, investigation_id: UUID, *, after: int, limit: int
    ) -> StepsView:
        """Return the lines after a number, with their texts; NotFound otherwise."""
        return self.look(principal, investigation_id, after=after, limit=limit)[1]

    def look(
        self, principal: Principal, investigation_id: UUID, *, after: int, limit: int
    ) -> tuple[InvestigationView, StepsView]:
        """Return an investigation and its lines after a number, both of one moment."""
        _may_read_all(principal)
        with self.transactions.reading(principal) as stores:
            investigation = _find_investigation(stores, investigation_id)
            rows = stores.investigations.steps(investigation_id, after=after, limit=limit)
            entries = stores.entries.at({row.position for row in rows})
        lines = self._lines(principal.workspace_id, rows, entries)
        view = StepsView(
            items=lines,
            after=rows[-1].seq if rows else after,
            state=investigation.state,
            ended=investigation.ended_at is not None and len(rows) < limit,
        )
        return view_of(investigation), view

    def tool_calls(
        self,
        principal: Principal,
        *,
        investigation_id: UUID | None,
        connector: str | None,
        session_id: str | None,
        before: UUID | None,
        limit: int,
    ) -> tuple[ToolCallView, ...]:
        """Return up to `limit` tool calls made before one, the newest first."""
        _may_read(principal)
        with self.transactions.reading(principal) as stores:
            actions = stores.actions.page(
                investigation_id=investigation_id,
                connector=connector,
                session_id=session_id,
                before=before,
                limit=limit,
                principal_id=_own_only(principal),
            )
        return self._calls(principal.workspace_id, actions)

    def tool_call(self, principal: Principal, action_id: UUID) -> ToolCallView:
        """Return what a citation of a tool names; NotFound for one that may not be read, too."""
        _may_read(principal)
        with self.transactions.reading(principal) as stores:
            action = stores.actions.find(action_id)
        if action is None or _own_only(principal) not in (None, action.principal_id):
            raise NotFound("There is no such tool call.", action_id=str(action_id))
        return self._calls(principal.workspace_id, [action])[0]

    def approvals(
        self,
        principal: Principal,
        *,
        state: ApprovalState | None,
        before: UUID | None,
        limit: int,
    ) -> tuple[QuestionView, ...]:
        """Return up to `limit` questions to people asked before one, the newest first."""
        _may_read(principal)
        with self.transactions.reading(principal) as stores:
            questions = stores.approvals.page(state=state, before=before, limit=limit)
        return tuple(convert(item, QuestionView) for item in questions)

    def _lines(
        self, workspace_id: UUID, rows: Sequence[StepRow], entries: Sequence[Entry]
    ) -> tuple[StepView, ...]:
        bodies = self.open(
            workspace_id,
            [
                Sealed(id=entry.id, data_subjects=entry.data_subjects, body=entry.body)
                for entry in entries
            ],
        )
        by_position = {
            entry.position: body for entry, body in zip(entries, bodies, strict=True) if body
        }
        return tuple(_step(row, by_position.get(row.position)) for row in rows)

    def _calls(self, workspace_id: UUID, rows: Sequence[ActionRow]) -> tuple[ToolCallView, ...]:
        sealed = [
            Sealed(id=row.id, data_subjects=row.data_subjects, body=body)
            for row in rows
            for body in (row.input, row.output)
        ]
        opened = self.open(workspace_id, sealed)
        return tuple(_call(row, opened[2 * at], opened[2 * at + 1]) for at, row in enumerate(rows))


def view_of(investigation: Investigation) -> InvestigationView:
    """Return an investigation as it is shown."""
    spent = investigation.spending
    return convert(
        investigation,
        InvestigationView,
        trace_id=trace_id_of(investigation.traceparent),
        spent=convert(spent, SpentView, usd=float(spent.usd), seconds=spent.ms / 1000),
    )


def limits_of(persona: Persona) -> LimitsView:
    """Return what an investigation of this persona may spend."""
    return LimitsView(
        tokens=persona.max_tokens,
        usd=float(persona.max_usd),
        seconds=float(persona.max_seconds),
        iterations=persona.max_iterations,
    )


def left_of(budget: LimitsView, spent: SpentView) -> LimitsView:
    """Return what is left of a budget; never less than nothing."""
    return LimitsView(
        tokens=max(0, budget.tokens - spent.tokens),
        usd=max(0.0, round(budget.usd - spent.usd, 9)),
        seconds=max(0.0, round(budget.seconds - spent.seconds, 3)),
        iterations=max(0, budget.iterations - spent.iterations),
    )


def _may_read(principal: Principal) -> None:
    principal.require(Role.ADMIN, Role.AGENT)


def _may_read_all(principal: Principal) -> None:
    _may_read(principal)
    principal.require_scope(Scope.ADMIN)


def _own_only(principal: Principal) -> UUID | None:
    """Return whose tool calls a principal reads; None for everyone's."""
    return None if Scope.ADMIN in principal.allowed_scopes else principal.principal_id


def _find_investigation(stores: Stores, investigation_id: UUID) -> Investigation:
    investigation = stores.investigations.find(investigation_id)
    if investigation is None:
        raise NotFound("There is no such investigation.", investigation_id=str(investigation_id))
    return investigation


def _step(row: StepRow, body: Mapping[str, JsonValue] | None) -> StepView:
    line = _line(body, row.line)
    citations = line.get("citations")
    detail = line.get("detail")
    return convert(
        row,
        StepView,
        detail=detail if isinstance(detail, str) else None,
        citations=tuple(map(str, citations)) if isinstance(citations, list) else (),
        readable=body is not None,
    )


def _line(body: Mapping[str, JsonValue] | None, number: int) -> Mapping[str, JsonValue]:
    lines = body.get(LINES) if body else None
    if not isinstance(lines, list) or not 0 <= number < len(lines):
        return {}
    line = lines[number]
    return line if isinstance(line, dict) else {}


def _call(
    row: ActionRow,
    arguments: Mapping[str, JsonValue] | None,
    came: Mapping[str, JsonValue] | None,
) -> ToolCallView:
    took = (
        round((row.completed_at - row.started_at).total_seconds() * 1000)
        if row.started_at and row.completed_at
        else None
    )
    return convert(
        row,
        ToolCallView,
        owner=row.connector,
        tool=f"{row.connector}.{row.tool}",
        input=_shown(arguments),
        output=_shown(came),
        ms=took,
        readable=arguments is not None,
    )


def _shown(body: Mapping[str, JsonValue] | None) -> str | None:
    """Return a body as text: its only text as it is, everything else as JSON; cut."""
    if not body:
        return None
    only = next(iter(body.values())) if len(body) == 1 else None
    text = only if isinstance(only, str) else json.dumps(body, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + CUT
