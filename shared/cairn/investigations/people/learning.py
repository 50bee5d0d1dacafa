"""What may be learned from resolved tickets is staged for people to look at, and no more than that.

A candidate is the redacted ticket, how it was resolved, and what was done. It becomes a document
when a person accepts it: `people.candidates`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from cairn.investigations import citations
from cairn.investigations.journal import opened, text_in
from cairn.investigations.ports import Candidate, CandidateState, Opinion
from cairn.investigations.run.moving import find_investigation, ids, read
from cairn.investigations.state import State, Verdict
from cairn.investigations.tool_calls import cut
from cairn.investigations.views import OpinionView
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.ids import derived_id
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.elements import one_line
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.tickets.sealing import names_in
from cairn.writing.append import principal_actor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.people.proposing import ProposeObservations
    from cairn.investigations.state import Investigation, Observation, WorkingMemory
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.writing.writer import Write


LOWEST, HIGHEST = 1, 5
GOOD = 4
POOR = 2
"""From here down nothing is learned from an investigation."""

MAX_OPINION_CHARS = 2_000
DISPUTED = "disputed"
RATED_POORLY = "rated-poorly"


Stage: TypeAlias = "Callable[[UUID, UUID, str], bool]"
"""Stages a candidate of an investigation; `StageCandidates`.

Return whether one was staged.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """Takes what admins and operators say of investigations, and shows it to people.

    Raises Denied for other keys, NotFound for another workspace's, Conflict (`not-ended`) before
    the end, ValidationFailed naming the field.
    """

    journal: Journal
    stage: Stage

    def rate(
        self, principal: Principal, investigation_id: UUID, *, rating: int, comment: str = ""
    ) -> OpinionView:
        """Rate an investigation from 1 to 5."""
        if isinstance(rating, bool) or not LOWEST <= rating <= HIGHEST:
            _refuse("rating", f"is {LOWEST} to {HIGHEST}")
        if comment:
            clean_text(comment, field="comment", max_chars=MAX_OPINION_CHARS)
        view = self._say(principal, investigation_id, rating, comment)
        if rating >= GOOD:
            self.stage(principal.workspace_id, investigation_id, "rated")
        return view

    def dispute(self, principal: Principal, investigation_id: UUID, *, reason: str) -> OpinionView:
        """Dispute how an investigation ended; nothing is learned from it then."""
        clean_text(reason, field="reason", max_chars=MAX_OPINION_CHARS)
        return self._say(principal, investigation_id, None, reason)

    def of(self, principal: Principal, investigation_id: UUID) -> tuple[OpinionView, ...]:
        """Return what stands, the oldest first."""
        principal.require_person()
        with self.journal.reading(principal.workspace_id) as stores:
            find_investigation(stores, investigation_id)
            rows = stores.opinions.of(investigation_id)
        sealed = [(row, row.content) for row in rows]
        bodies = opened(self.journal, principal.workspace_id, sealed)
        pairs = zip(rows, bodies, strict=True)
        return tuple(_view(row, text_in(body, "text")) for row, body in pairs)

    def _say(
        self, principal: Principal, investigation_id: UUID, rating: int | None, text: str
    ) -> OpinionView:
        principal.require_operator()
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            investigation = find_investigation(stores, investigation_id)
        if not investigation.state.is_end:
            raise Conflict("The investigation has not ended.", reason="not-ended")

        def say(write: Write) -> Opinion:
            opinion_id = self.journal.platform.new_id()
            opinion = Opinion(
                id=opinion_id,
                investigation_id=investigation_id,
                principal_id=principal.principal_id,
                rating=rating,
                content=write.entries.seal(opinion_id, write.data_subjects, {"text": text}),
                data_subjects=write.data_subjects,
                said_at=write.now,
            )
            write.stores.opinions.put(opinion)
            kind = "investigation.disputed" if rating is None else "investigation.rated"
            stars = {} if rating is None else {"rating": rating}
            write.note(kind, {**ids(investigation), **stars}, {"text": text})
            if is_against(opinion):
                _take_back(write, investigation, DISPUTED if rating is None else RATED_POORLY)
            return opinion

        subjects, actor = investigation.data_subjects, principal_actor(principal)
        return _view(self.journal.write(workspace_id, subjects, actor, say), text)


def candidate_id(investigation_id: UUID) -> UUID:
    """Return the id of what may be learned from an investigation."""
    return derived_id(investigation_id, "candidate")


def is_against(opinion: Opinion) -> bool:
    """Return whether what somebody said keeps anything from being learned."""
    return opinion.rating is None or opinion.rating <= POOR


def _take_back(write: Write, investigation: Investigation, reason: str) -> None:
    """Reject the candidate that waits, if one does: its resolution is disputed or rated poorly."""
    waiting = candidate_id(investigation.id)
    rejected = write.stores.candidates.decide(
        waiting,
        CandidateState.REJECTED,
        by=None,
        reason=reason,
        content=None,
        now=write.now,
    )
    if rejected:
        meta = {**ids(investigation), "candidate_id": str(waiting), "reason": reason}
        write.note("resolution.rejected", meta, {})


def _view(row: Opinion, text: str | None) -> OpinionView:
    return OpinionView(
        investigation_id=row.investigation_id,
        principal_id=row.principal_id,
        kind="dispute" if row.rating is None else "rating",
        rating=row.rating,
        text=text,
        said_at=row.said_at,
    )


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])


UNDISPUTED_FOR = timedelta(days=7)
REVIEWED_WITHIN = timedelta(days=30)
AT_ONCE = 100
MAX_TITLE_CHARS = 200
MAX_TEXT_CHARS = 40_000
MAX_SEEN_CHARS = 500
_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCandidates:
    """Stages what was resolved without a person, once an investigation."""

    journal: Journal

    def __call__(self, workspace_id: UUID, investigation_id: UUID, cause: str) -> bool:
        """Stage one; False when there is nothing to learn from it, or it is staged already."""
        try:
            before = read(self.journal, workspace_id, investigation_id)
            if not is_resolved(before.investigation):
                return False
            return self._staged(before.investigation, before.memory, cause)
        except (BodyUnreadable, SubjectForgotten):
            self._nothing(workspace_id, investigation_id, cause)
            return False

    def due(self, workspace_id: UUID, now: datetime) -> int:
        """Stage what was rated well or stood undisputed for 7 days; return how many."""
        with self.journal.reading(workspace_id) as stores:
            results = stores.candidates.due(now - UNDISPUTED_FOR, AT_ONCE)
        return sum(self(workspace_id, node_id, cause) for node_id, cause in results)

    def archive(self, workspace_id: UUID, now: datetime) -> int:
        """Archive what nobody looked at for 30 days; return how many."""
        with self.journal.reading(workspace_id) as stores:
            candidates = stores.candidates.unreviewed(now - REVIEWED_WITHIN, AT_ONCE)
        if not candidates:
            return 0

        def end(write: Write) -> int:
            return sum(_archived(write, item) for item in candidates)

        actor = principal_actor(system_principal(workspace_id))
        return self.journal.write(workspace_id, (), actor, end)

    def _staged(self, investigation: Investigation, memory: WorkingMemory, cause: str) -> bool:
        new_id = candidate_id(investigation.id)
        content = {"title": title_of(memory), "text": text_of(investigation, memory)}

        def stage(write: Write) -> bool:
            if any(map(is_against, write.stores.opinions.of(investigation.id))):
                return False
            candidate = Candidate(
                id=new_id,
                investigation_id=investigation.id,
                ticket_id=investigation.ticket_id,
                cause=cause,
                content=write.entries.seal(new_id, write.data_subjects, content),
                data_subjects=write.data_subjects,
                staged_at=write.now,
            )
            if not write.stores.candidates.add(candidate):
                return False
            meta = {**ids(investigation), "candidate_id": str(new_id), "cause": cause}
            write.note("resolution.staged", meta, content)
            return True

        workspace_id = investigation.workspace_id
        actor = principal_actor(system_principal(workspace_id))
        return self.journal.write(workspace_id, investigation.data_subjects, actor, stage)

    def _nothing(self, workspace_id: UUID, investigation_id: UUID, cause: str) -> None:
        """Keep that there is nothing to learn: whom it was about was forgotten."""
        with self.journal.reading(workspace_id) as stores:
            investigation = stores.investigations.find(investigation_id)
        if investigation is None:
            raise NotFound("There is no such investigation.", reason="investigation")

        def close(write: Write) -> None:
            candidate = Candidate(
                id=candidate_id(investigation_id),
                investigation_id=investigation_id,
                ticket_id=investigation.ticket_id,
                cause=cause,
                content=b"",
                data_subjects=(),
                staged_at=write.now,
                state=CandidateState.ARCHIVED,
                decided_at=write.now,
                reason="forgotten",
            )
            if write.stores.candidates.add(candidate):
                _note_archived(write, candidate)

        actor = principal_actor(system_principal(workspace_id))
        self.journal.write(workspace_id, (), actor, close)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learn:
    """Hourly, in every workspace: stages, archives, and proposes what was seen again and again.

    A workspace that fails is told to `report`, and does not keep the others waiting.
    """

    workspaces: Callable[[], Sequence[UUID]]
    stage: StageCandidates
    propose: ProposeObservations
    clock: Clock
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self) -> dict[str, int]:
        """Return how many candidates were staged and archived, and how many nodes proposed."""
        counts = {"staged": 0, "archived": 0, "proposed": 0}
        for workspace_id in self.workspaces():
            try:
                now = self.clock()
                counts["staged"] += self.stage.due(workspace_id, now)
                counts["archived"] += self.stage.archive(workspace_id, now)
                counts["proposed"] += self.propose(workspace_id, now)
            except CairnError as error:
                fields = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.report("learning.failed", fields)
        return counts


def title_of(memory: WorkingMemory) -> str:
    """Return the ticket's redacted title in one line."""
    return cut(
        _unnamed(memory, one_line(memory.brief.title)) or "A resolved ticket", MAX_TITLE_CHARS
    )


def text_of(investigation: Investigation, memory: WorkingMemory) -> str:
    """Return a candidate as Markdown: the problem, the resolution, what was done.

    The customer's names are left out: what is learned is about the problem.
    """
    done = "\n".join(
        f"{number}. {_done(observation)}"
        for number, observation in enumerate(memory.observations, start=1)
    )
    text = (
        f"# {title_of(memory)}\n\n## Problem\n\n{memory.brief.body.strip()}\n\n"
        f"## Resolution\n\n{memory.summary.strip()}\n\n"
        f"## What was done\n\n{done or 'Nothing had to be changed.'}\n\n"
        f"From {citations.ticket(investigation.ticket_id)}.\n"
    )
    return cut(_unnamed(memory, text), MAX_TEXT_CHARS)


def _done(observation: Observation) -> str:
    arguments = json.dumps(dict(observation.arguments), sort_keys=True, ensure_ascii=False)
    tried = " (tried out only)" if observation.dry_run else ""
    seen = cut(one_line(observation.text), MAX_SEEN_CHARS)
    text = f": {seen}" if seen else ""
    tool = f"{observation.connector}.{observation.tool}"
    return f"`{tool}` {arguments}: {observation.outcome}{tried}{text}"


def _unnamed(memory: WorkingMemory, text: str) -> str:
    customer = memory.brief.customer.strip()
    names = {item for item in (customer, *names_in(customer)) if len(item) >= _SHORTEST_NAME}
    if not names:
        return text
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    any_of = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<!\w)(?:{any_of})(?!\w)", "the customer", text, flags=re.IGNORECASE)


def is_resolved(investigation: Investigation) -> bool:
    """Return whether an investigation resolved its ticket without a person."""
    return (
        investigation.verdict is Verdict.AUTO_RESOLVED
        and investigation.state is State.DONE
        and investigation.ended_at is not None
    )


def _archived(write: Write, candidate: Candidate) -> bool:
    archived = write.stores.candidates.decide(
        candidate.id,
        CandidateState.ARCHIVED,
        by=None,
        reason="unreviewed",
        content=None,
        now=write.now,
    )
    if archived:
        _note_archived(write, candidate)
    return archived


def _note_archived(write: Write, candidate: Candidate) -> None:
    meta = {
        "investigation_id": str(candidate.investigation_id),
        "ticket_id": str(candidate.ticket_id),
        "candidate_id": str(candidate.id),
        "reason": candidate.reason or "unreviewed",
    }
    write.note("resolution.archived", meta, {})
