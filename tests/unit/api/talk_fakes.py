"""Fake use cases of conversations, reports and subscriptions, for the routes' tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from cairn.conversations.messages import NewMessage
from cairn.conversations.read import (
    ConversationFilter,
    ConversationMessage,
    ConversationView,
)
from cairn.conversations.record import MessageRecorded
from cairn.conversations.search import (
    ConversationAnswer,
    ConversationQuery,
    FoundMessage,
)
from cairn.kernel.access import Principal, Scope
from cairn.kernel.errors import NotFound
from cairn.reading.views import Page
from cairn.recall.legs import LegOutcome
from cairn.recall.subscriptions import SubscriptionView
from cairn.reports.read import Report, ReportEntry, ReportFilter, ReportPage
from cairn.reports.write import NewReport, ReportWritten
from cairn.writing.items import IdempotencyKey

NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)
TALK = UUID(int=500)


@dataclass
class Talk:
    """The state behind the fakes; tests set it and look at it."""

    said: list[NewMessage] = field(default_factory=list[NewMessage])
    searched: list[ConversationQuery] = field(default_factory=list[ConversationQuery])
    listed: list[ConversationFilter] = field(default_factory=list[ConversationFilter])
    bound: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    changed: list[tuple[UUID, bool]] = field(default_factory=list[tuple[UUID, bool]])
    reported: list[NewReport] = field(default_factory=list[NewReport])
    asked: list[object] = field(default_factory=list[object])
    subscribed: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    persisted: bool = True
    created: bool = True

    def record(
        self, principal: Principal, message: NewMessage, *, idempotency: IdempotencyKey | None
    ) -> MessageRecorded:
        self.said.append(message)
        waits = {} if self.persisted else {"pending": 1, "expires_at": NOON + timedelta(hours=24)}
        return MessageRecorded(
            conversation_id=TALK,
            message_id=UUID(int=501),
            persisted=self.persisted,
            position=7 if self.persisted else None,
            written=(UUID(int=501),) if self.persisted else (),
            **waits,  # type: ignore[arg-type]
        )

    def change(self, principal: Principal, conversation_id: UUID, *, infer: bool) -> None:
        if conversation_id != TALK:
            raise NotFound("There is no such conversation.")
        self.changed.append((conversation_id, infer))

    def bind_key(self, principal: Principal, conversation_id: UUID, key_id: UUID, /) -> None:
        self.bound.append((conversation_id, key_id))

    def page(
        self, principal: Principal, where: ConversationFilter, *, limit: int, after: int | None
    ) -> Page[ConversationView]:
        self.listed.append(where)
        return Page(items=(conversation(),), next_after=None)

    def get(
        self, principal: Principal, conversation_id: UUID, *, limit: int, after: int | None
    ) -> tuple[ConversationView, Page[ConversationMessage]]:
        if conversation_id != TALK:
            raise NotFound("There is no such conversation.")
        every = [message(position) for position in range(11, 14) if position > (after or 0)]
        items = tuple(every[:limit])
        return conversation(), Page(
            items=items, next_after=items[-1].position if len(every) > limit else None
        )

    def search(self, principal: Principal, asked: ConversationQuery, /) -> ConversationAnswer:
        self.searched.append(asked)
        return ConversationAnswer(
            messages=(FoundMessage(message=message(11), relevance_score=0.5),),
            conversation_id=asked.conversation_id,
            query_ms=1.26,
            legs={"vector": LegOutcome(failure="late"), "keyword": LegOutcome(ms=1.0)},
            degraded=("vector: late",),
        )

    def write(
        self, principal: Principal, report: NewReport, *, idempotency: IdempotencyKey | None
    ) -> ReportWritten:
        self.reported.append(report)
        return ReportWritten(id=UUID(int=600), position=9, created=self.created)

    def latest(
        self, principal: Principal, *, keyword: str | None, limit: int
    ) -> tuple[Report, ...]:
        self.asked.append((keyword, limit))
        return (Report(report=entry(), body="All is well."),)

    def reports_page(
        self, principal: Principal, where: ReportFilter, *, limit: int, after: int | None
    ) -> ReportPage:
        self.asked.append((where, limit, after))
        return ReportPage(page=Page(items=(entry(),), next_after=None if after else 9), total=3)

    def subscriptions(
        self, principal: Principal, agent: str | None, /
    ) -> tuple[SubscriptionView, ...]:
        named = [agent] if agent else sorted(self.subscribed)
        return tuple(self._view(item) for item in named if item in self.subscribed)

    def subscribe(
        self, principal: Principal, agent: str | None, keywords: Sequence[str], /
    ) -> SubscriptionView:
        self.subscribed[agent or ""] = tuple(keywords)
        return self._view(agent or "")

    def clear(self, principal: Principal, agent: str | None, /) -> SubscriptionView:
        self.subscribed[agent or ""] = ()
        return self._view(agent or "")

    def _view(self, agent: str) -> SubscriptionView:
        return SubscriptionView(agent=agent, keywords=self.subscribed[agent], position=3)

    def services(self) -> dict[str, Any]:
        return {
            "record_message": self.record,
            "bind_key": self.bind_key,
            "change_conversation": self.change,
            "conversations": SimpleNamespace(list=self.page, get=self.get),
            "search_conversations": self.search,
            "write_report": self.write,
            "reports": SimpleNamespace(latest=self.latest, list=self.reports_page),
            "subscriptions": SimpleNamespace(
                get=self.subscriptions, put=self.subscribe, clear=self.clear
            ),
        }


def conversation() -> ConversationView:
    return ConversationView(
        id=TALK,
        position=10,
        channel="webchat",
        session_id="s1",
        client_id="global",
        scope=Scope.ADMIN,
        opened_at=NOON,
        recorded_at=NOON,
        messages=3,
    )


def message(position: int) -> ConversationMessage:
    return ConversationMessage(
        id=UUID(int=position),
        position=position,
        conversation_id=TALK,
        role="user",
        content="Is the hut open?",
        timestamp=NOON,
        sequence=position - 10,
        session_id="s1",
        recorded_at=NOON,
        channel="webchat",
    )


def entry() -> ReportEntry:
    return ReportEntry(
        id=UUID(int=600),
        position=9,
        title="Daily briefing",
        keywords=("daily-briefing",),
        scope=Scope.ADMIN,
        occurred_at=NOON,
        recorded_at=NOON,
    )
