"""Ratings and disputes: what people say of an investigation that ended. The last word counts.

Each word is a ledger entry. A good rating stages a candidate at once; a dispute and a poor
rating keep one away, and take back one that waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol

from cairn.investigations.people.ports import CandidateState, Opinion
from cairn.investigations.people.sealed import opened, said
from cairn.investigations.people.views import OpinionView
from cairn.investigations.run.moving import found, ids
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, ValidationFailed
from cairn.kernel.ids import derived_id
from cairn.kernel.text.checks import clean_text
from cairn.writing.append import principal_actor

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.investigations.journal import Journal, Page
    from cairn.investigations.state import Investigation
    from cairn.kernel.access import Principal

LOWEST, HIGHEST = 1, 5
GOOD = 4
POOR = 2
"""From here down nothing is learned from an investigation."""

MAX_TEXT_CHARS = 2_000
DISPUTED = "disputed"
RATED_POORLY = "rated-poorly"


class Stage(Protocol):
    """Stages a candidate of an investigation; `people.learning.StageCandidates`."""

    def __call__(self, workspace_id: UUID, investigation_id: UUID, cause: str, /) -> bool:
        """Return whether one was staged."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """Takes what admins say of investigations, and shows it.

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
            clean_text(comment, field="comment", max_chars=MAX_TEXT_CHARS)
        view = self._say(principal, investigation_id, rating, comment)
        if rating >= GOOD:
            self.stage(principal.workspace_id, investigation_id, "rated")
        return view

    def dispute(self, principal: Principal, investigation_id: UUID, *, reason: str) -> OpinionView:
        """Dispute how an investigation ended; nothing is learned from it then."""
        clean_text(reason, field="reason", max_chars=MAX_TEXT_CHARS)
        return self._say(principal, investigation_id, None, reason)

    def of(self, principal: Principal, investigation_id: UUID) -> tuple[OpinionView, ...]:
        """Return what stands, the oldest first."""
        principal.require(Role.ADMIN)
        with self.journal.reading(principal.workspace_id) as stores:
            found(stores, investigation_id)
            rows = stores.opinions.of(investigation_id)
        sealed = [(row, row.content) for row in rows]
        bodies = opened(self.journal, principal.workspace_id, sealed)
        return tuple(_view(row, said(body, "text")) for row, body in zip(rows, bodies, strict=True))

    def _say(
        self, principal: Principal, investigation_id: UUID, rating: int | None, text: str
    ) -> OpinionView:
        principal.require(Role.ADMIN)
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            investigation = found(stores, investigation_id)
        if not investigation.state.is_end:
            raise Conflict("The investigation has not ended.", reason="not-ended")

        def say(page: Page) -> Opinion:
            opinion_id = self.journal.new_id()
            opinion = Opinion(
                id=opinion_id,
                investigation_id=investigation_id,
                principal_id=principal.principal_id,
                rating=rating,
                content=page.entries.seal(opinion_id, page.data_subjects, {"text": text}),
                data_subjects=page.data_subjects,
                said_at=page.now,
            )
            page.stores.opinions.put(opinion)
            kind = "investigation.disputed" if rating is None else "investigation.rated"
            stars = {} if rating is None else {"rating": rating}
            page.note(kind, {**ids(investigation), **stars}, {"text": text})
            if is_against(opinion):
                _take_back(page, investigation, DISPUTED if rating is None else RATED_POORLY)
            return opinion

        subjects, actor = investigation.data_subjects, principal_actor(principal)
        return _view(self.journal.write(workspace_id, subjects, actor, say), text)


def candidate_id(investigation_id: UUID) -> UUID:
    """Return the id of what may be learned from an investigation."""
    return derived_id(investigation_id, "candidate")


def is_against(opinion: Opinion) -> bool:
    """Return whether what somebody said keeps anything from being learned."""
    return opinion.rating is None or opinion.rating <= POOR


def _take_back(page: Page, investigation: Investigation, reason: str) -> None:
    """Reject the candidate that waits, if one does: its resolution is disputed or rated poorly."""
    waiting = candidate_id(investigation.id)
    rejected = page.stores.candidates.decide(
        waiting,
        CandidateState.REJECTED,
        by=None,
        reason=reason,
        content=None,
        now=page.now,
    )
    if rejected:
        meta = {**ids(investigation), "candidate_id": str(waiting), "reason": reason}
        page.note("resolution.rejected", meta, {})


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
