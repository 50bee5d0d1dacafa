"""Write reports: the durable output of workflows. Append-only; the use case of `POST /v1/reports`.

A report with the same title, for the same readers, in the same minute is the same report: a
workflow that runs its step again gets the id of the first. The check runs under the ledger's lock.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.entities import entity_id
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import derived_id
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.hashes import content_hash, sha256
from cairn.kernel.text.scrub import scrub
from cairn.reports.rows import ADMIN_NAME, ADMIN_TYPE
from cairn.safety.screening import screen
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import (
    Owner,
    clean_name,
    moment,
    owners,
    refuse,
    require_writer,
    source_agent,
    tagged_agents,
)
from cairn.writing.subjects import SubjectRegisteredMeanwhile, resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.kernel.access import Principal, Scope
    from cairn.kernel.stores import Stores
    from cairn.writing.items import IdempotencyKey

MAX_BODY_CHARS = 10_000
MAX_TITLE_CHARS = 256
MAX_KEYWORDS = 20
MAX_KEYWORD_CHARS = 64
WRITTEN = "report.written"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReport:
    """A report as its workflow sent it. Without a conversation its parent is the admin.

    `conversation_id` names the conversation it came of; `session_id` the newest one of a session.
    `about` are the ids of data subjects that what it is made of is about.
    """

    title: str
    body: str
    keywords: tuple[str, ...] = ()
    source_workflow: str | None = None
    occurred_at: datetime | None = None
    conversation_id: UUID | None = None
    session_id: str | None = None
    client_id: str = GLOBAL_CLIENT
    scope: Scope | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()
    about: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWritten:
    """Where a report is. `created` False: it was there already, and nothing was written."""

    id: UUID
    position: int
    created: bool
    parent_id: UUID | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """A report that is there already."""

    id: UUID
    position: int
    parent_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDraft:
    """A report checked and scrubbed."""

    title: str
    body: str
    keywords: tuple[str, ...]
    source_workflow: str | None
    source_agent: str
    occurred_at: datetime
    conversation_id: UUID | None
    session_id: str | None
    client_id: str
    scope: Scope
    agents: tuple[str, ...] | None
    screening: str = "clean"
    wanted: tuple[Owner, ...] = field(default=())
    about: tuple[UUID, ...] = ()

    def identity(self) -> str:
        """Return the identity: readers, title, and the minute it is about; 32 hex characters."""
        minute = self.occurred_at.strftime("%Y-%m-%dT%H:%M%z")
        agents = sorted(self.agents) if self.agents is not None else None
        return sha256(
            json.dumps(["report", self.scope, agents, self.title, minute]).encode()
        ).hex()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport(Writer):
    """Writes one report; a second of the same title and minute returns the first.

    Raises Denied for a principal that may not write, ValidationFailed or TooLarge naming the field,
    NotFound for a conversation that is not visible, Unavailable when nothing could be written.
    """

    def __call__(
        self, principal: Principal, report: NewReport, *, idempotency: IdempotencyKey | None = None
    ) -> ReportWritten:
        """Write it, or return the one that is there."""
        require_writer(principal)
        start = self.platform.stopwatch()
        draft = draft_report(report, principal, self.platform.clock())

        def prepared() -> Work[ReportWritten]:
            others = (*self._talkers(principal, draft), *draft.about)
            return Work(
                resolution=resolve(self.platform, principal, draft.wanted, others),
                do=partial(_write, draft),
                keep=_answer,
                read=_from_answer,
            )

        written = self.write_once(principal, prepared, idempotency)
        self.platform.log(
            "reports",
            {
                "op": "write",
                "report_id": str(written.id)[-12:],
                "keywords": len(draft.keywords),
                "idempotent": int(not written.created),
                "ms": round((self.platform.stopwatch() - start) * 1000, 1),
            },
        )
        return written

    def _talkers(self, principal: Principal, draft: ReportDraft) -> tuple[UUID, ...]:
        """Return whom the conversation is about that the report came of: so is the report."""
        if draft.conversation_id is None and draft.session_id is None:
            return ()
        with self.platform.transactions.reading(principal) as stores:
            results = stores.reports.conversation(draft.conversation_id, draft.session_id)
        return results[1] if results else ()


def _write(draft: ReportDraft, write: Write) -> ReportWritten:
    same = write.stores.reports.find(draft.identity())
    if same is not None:
        there = ReportWritten(
            id=same.id, position=same.position, created=False, parent_id=same.parent_id
        )
        return there
    write.register()
    written = _append(draft, write)
    write.wake_embed([written.id])
    return written


def _append(draft: ReportDraft, write: Write) -> ReportWritten:
    entries, resolution = write.entries, write.resolution
    report_id = entries.new_id()
    meta, talkers = _provenance(write.stores, entries.workspace_id, draft, report_id)
    subjects = tuple(sorted({*resolution.subjects_of(draft.wanted), *talkers, *draft.about}))
    if any(subject not in resolution.keys for subject in subjects):
        raise SubjectRegisteredMeanwhile("The conversation was begun meanwhile.")
    parent_id = UUID(meta["parent_id"])
    position = entries.add(
        WRITTEN,
        meta,
        _body(draft),
        data_subjects=subjects,
        occurred_at=draft.occurred_at,
        session_id=str(parent_id) if meta["parent"] == "conversation" else None,
    )
    write.append()
    return ReportWritten(id=report_id, position=position, created=True, parent_id=parent_id)


def draft_report(new: NewReport, principal: Principal, now: datetime) -> ReportDraft:
    """Return the draft of a report.

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    title = clean_text(new.title, field="title", max_chars=MAX_TITLE_CHARS)
    body = scrub(clean_text(new.body, field="body", max_chars=MAX_BODY_CHARS)).text
    client_id = clean_name(new.client_id, "client_id") or GLOBAL_CLIENT
    return ReportDraft(
        title=" ".join(scrub(title).text.split()),
        body=body,
        keywords=report_keywords(new.keywords),
        source_workflow=clean_name(new.source_workflow, "source_workflow"),
        source_agent=source_agent(None, principal),
        occurred_at=moment(new.occurred_at, "occurred_at") or now,
        conversation_id=new.conversation_id,
        session_id=clean_name(new.session_id, "session_id"),
        client_id=client_id,
        scope=scope,
        agents=tagged_agents(new.agents, principal),
        screening=screen(body).verdict.value.lower(),
        wanted=owners(client_id, new.data_subjects),
        about=new.about,
    )


def report_keywords(keywords: tuple[str, ...]) -> tuple[str, ...]:
    """Return keywords case folded, each once, at most MAX_KEYWORDS."""
    if len(keywords) > MAX_KEYWORDS:
        refuse("keywords", f"has {len(keywords)} items; at most {MAX_KEYWORDS} are allowed")
    return tuple(
        dict.fromkeys(
            report_keyword(keyword, f"keywords.{n}") for n, keyword in enumerate(keywords)
        )
    )


def report_keyword(keyword: str, name: str) -> str:
    """Return one keyword as it is stored and compared; ValidationFailed naming the field."""
    text = clean_text(keyword, field=name, max_chars=MAX_KEYWORD_CHARS)
    return " ".join(scrub(text).text.casefold().split())


def _provenance(
    stores: Stores, workspace_id: UUID, draft: ReportDraft, report_id: UUID
) -> tuple[dict[str, Any], tuple[UUID, ...]]:
    """Return the entry's meta, which says what produced the report, and whom that is about."""
    results = None
    if draft.conversation_id is not None or draft.session_id is not None:
        results = stores.reports.conversation(draft.conversation_id, draft.session_id)
    if draft.conversation_id is not None and results is None:
        raise NotFound("There is no such conversation.")
    admin = entity_id(workspace_id, draft.scope, draft.agents, ADMIN_TYPE, ADMIN_NAME)
    return {
        "report_id": str(report_id),
        "scope": draft.scope.value,
        "parent": "conversation" if results else "admin",
        "parent_id": str(results[0] if results else admin),
        "edge_id": str(derived_id(report_id, "PRODUCED")),
        "keywords": len(draft.keywords),
    }, results[1] if results else ()


def _body(draft: ReportDraft) -> dict[str, Any]:
    return {
        "title": draft.title,
        "body": draft.body,
        "content_hash": content_hash(f"{draft.title}\n{draft.body}"),
        "dedup_key": draft.identity(),
        "keywords": list(draft.keywords),
        "source_workflow": draft.source_workflow,
        "source_agent": draft.source_agent,
        "agents": list(draft.agents) if draft.agents is not None else None,
        "client_id": draft.client_id,
        "screening": draft.screening,
        "session_id": draft.session_id,
    }


def _answer(written: ReportWritten) -> dict[str, Any]:
    return {
        "id": str(written.id),
        "position": written.position,
        "created": written.created,
        "parent_id": str(written.parent_id) if written.parent_id else None,
    }


def _from_answer(answer: Mapping[str, Any]) -> ReportWritten:
    return ReportWritten(
        id=UUID(answer["id"]),
        position=answer["position"],
        created=answer["created"],
        parent_id=UUID(answer["parent_id"]) if answer["parent_id"] else None,
        replayed=True,
    )
