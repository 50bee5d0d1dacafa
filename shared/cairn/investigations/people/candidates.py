"""The review queue: a person accepts, edits or rejects what may be learned. Nobody else does.

An accepted candidate is a verified document, ingested as any other; a repeat of an acceptance that
was interrupted goes on where it stopped, and its document is the same one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.documents.ports import NewDocument
from cairn.investigations.journal import opened, text_in
from cairn.investigations.people.learning import MAX_TEXT_CHARS, MAX_TITLE_CHARS
from cairn.investigations.ports import CandidateState
from cairn.investigations.views import CandidateView
from cairn.kernel.access import Scope
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.records import convert
from cairn.kernel.text.checks import clean_text
from cairn.tickets.sealing import requester_key
from cairn.writing.append import principal_actor
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

    from cairn.documents.accept import AcceptDocument
    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import Candidate
    from cairn.kernel.access import Principal
    from cairn.tickets.write_back import Desk
    from cairn.writing.writer import Write

MAX_REASON_CHARS = 1_000
SOURCE_URI = "kb://resolutions/"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateText:
    """What a candidate says, opened."""

    title: str
    text: str
    rejected_because: str | None = None

    def as_body(self) -> dict[str, Any]:
        """Return what is sealed."""
        why = {"rejected_because": self.rejected_because} if self.rejected_because else {}
        return {"title": self.title, "text": self.text, **why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Lists and shows candidates to admins and people, and takes decisions of who operates.

    Raises Denied for others, NotFound for another workspace's and when whom it was about was
    forgotten, Conflict (`already-decided`), ValidationFailed naming the field.
    """

    journal: Journal
    desk: Desk
    ingest: AcceptDocument

    def page(
        self,
        principal: Principal,
        *,
        state: CandidateState | None = None,
        before: UUID | None = None,
        limit: int = 50,
    ) -> tuple[CandidateView, ...]:
        """Return candidates without their texts, the newest first."""
        principal.require_person()
        with self.journal.reading(principal.workspace_id) as stores:
            rows = stores.candidates.page(state=state, before=before, limit=limit)
        sealed = [(row, row.content) for row in rows]
        bodies = opened(self.journal, principal.workspace_id, sealed)
        views = [_view(row, _candidate_text(body)) for row, body in zip(rows, bodies, strict=True)]
        return tuple(replace(view, text=None) for view in views)

    def show(self, principal: Principal, candidate_id: UUID) -> CandidateView:
        """Return one with its text."""
        principal.require_person()
        return _view(*self._read(principal.workspace_id, candidate_id))

    def edit(
        self,
        principal: Principal,
        candidate_id: UUID,
        *,
        title: str | None = None,
        text: str | None = None,
    ) -> CandidateView:
        """Replace what a staged one says; it waits on."""
        principal.require_operator()
        row, draft = self._readable(principal.workspace_id, candidate_id)
        new = CandidateText(
            title=clean_text(title or draft.title, field="title", max_chars=MAX_TITLE_CHARS),
            text=clean_text(text or draft.text, field="text", max_chars=MAX_TEXT_CHARS),
        )

        def edit(write: Write) -> None:
            sealed = write.entries.seal(row.id, write.data_subjects, new.as_body())
            if not write.stores.candidates.edit(row.id, sealed, write.now):
                raise _decided()
            write.note("resolution.edited", _meta(row), new.as_body())

        self._write(principal, row, edit)
        return self.show(principal, candidate_id)

    def reject(self, principal: Principal, candidate_id: UUID, *, reason: str) -> CandidateView:
        """Say no; it stays as a record of what was not learned, and why."""
        principal.require_operator()
        why = clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS)
        row, draft = self._readable(principal.workspace_id, candidate_id)
        new = replace(draft, rejected_because=why)

        def reject(write: Write) -> None:
            self._decide(write, principal, row, CandidateState.REJECTED, new)
            write.note("resolution.rejected", _meta(row), {"reason": why})

        self._write(principal, row, reject)
        return self.show(principal, candidate_id)

    def accept(
        self, principal: Principal, candidate_id: UUID, *, scope: Scope = Scope.ADMIN
    ) -> CandidateView:
        """Say yes: it becomes a document, found once its ingestion is done."""
        principal.require_operator()
        principal.require_scope(scope)
        row, draft = self._readable(principal.workspace_id, candidate_id)
        if row.state is not CandidateState.ACCEPTED:

            def accept(write: Write) -> None:
                self._decide(write, principal, row, CandidateState.ACCEPTED, draft)
                write.note("resolution.accepted", _meta(row), draft.as_body())

            self._write(principal, row, accept)
        if row.document_id is None:
            self._store(principal, row, draft, scope)
        return self.show(principal, candidate_id)

    def _store(
        self, principal: Principal, row: Candidate, draft: CandidateText, scope: Scope
    ) -> None:
        workspace_id = principal.workspace_id
        ticket = self.desk.ticket(workspace_id, row.ticket_id)
        person = requester_key(ticket.requester_email)
        document = NewDocument(
            source_uri=f"{SOURCE_URI}{row.id}",
            title=draft.title,
            media_type="text/markdown",
            content=draft.text.encode("utf-8"),
            client_id=GLOBAL_CLIENT,
            scope=scope,
            data_subjects=(person,) if person else (),
            metadata={
                "verified": True,
                "verified_by": str(principal.principal_id),
                "candidate_id": str(row.id),
                "investigation_id": str(row.investigation_id),
            },
        )
        taken = self.ingest(principal, document)

        def keep(write: Write) -> None:
            write.stores.candidates.stored(row.id, taken.document_id, taken.ingestion_id)

        self._write(principal, row, keep)

    def _decide(
        self,
        write: Write,
        principal: Principal,
        row: Candidate,
        state: CandidateState,
        new: CandidateText,
    ) -> None:
        """Decide on what was read: an edit made since then gives way to it."""
        content = write.entries.seal(row.id, write.data_subjects, new.as_body())
        decided = write.stores.candidates.decide(
            row.id, state, by=principal.principal_id, reason=None, content=content, now=write.now
        )
        if not decided:
            raise _decided()

    def _write(self, principal: Principal, row: Candidate, do: Callable[[Write], None]) -> None:
        actor = principal_actor(principal)
        self.journal.write(
            principal.workspace_id, row.data_subjects, actor, do, person=principal.person
        )

    def _read(
        self, workspace_id: UUID, candidate_id: UUID
    ) -> tuple[Candidate, CandidateText | None]:
        with self.journal.reading(workspace_id) as stores:
            row = stores.candidates.find(candidate_id)
        if row is None:
            raise NotFound("There is no such candidate.", candidate_id=str(candidate_id))
        (body,) = opened(self.journal, workspace_id, [(row, row.content)])
        return row, _candidate_text(body)

    def _readable(self, workspace_id: UUID, candidate_id: UUID) -> tuple[Candidate, CandidateText]:
        row, draft = self._read(workspace_id, candidate_id)
        if draft is None:
            raise NotFound("Whom this was about was forgotten.", reason="forgotten")
        return row, draft


def _candidate_text(body: Mapping[str, Any] | None) -> CandidateText | None:
    if body is None:
        return None
    return CandidateText(
        title=text_in(body, "title") or "",
        text=text_in(body, "text") or "",
        rejected_because=text_in(body, "rejected_because"),
    )


def _view(row: Candidate, draft: CandidateText | None) -> CandidateView:
    return convert(
        row,
        CandidateView,
        title=draft.title if draft else None,
        text=draft.text if draft else None,
        rejected_because=draft.rejected_because if draft else None,
    )


def _meta(row: Candidate) -> dict[str, str]:
    return {
        "investigation_id": str(row.investigation_id),
        "ticket_id": str(row.ticket_id),
        "candidate_id": str(row.id),
    }


def _decided() -> Conflict:
    return Conflict("This candidate is not staged any more.", reason="already-decided")
