"""Hand-offs as operators see them: the inbox, and the bundle of one. Changes nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from cairn.chat.handoff import HandOffCause, HandOffRow, HandOffState, LineBy, LineKind
from cairn.chat.recording import opened, sealer_of
from cairn.chat.rows import TurnRow, TurnState
from cairn.kernel.access import Principal
from cairn.kernel.access.system import system_principal
from cairn.kernel.text.canonical import format_timestamp
from cairn.writing.platform import Platform
from cairn.writing.sealing import Sealer

MOST_TURNS, MOST_LINES, MOST_DID = 200, 500, 400
LIVE = timedelta(hours=1)
NUMBERS = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """A chat that goes to a person, in a list. `why` is None when its customer was forgotten.

    `waits_since` is set while the customer waits for somebody, or for the operator's answer;
    `due_at` is when nobody will have come, or the operator will have left.
    """

    id: UUID
    state: HandOffState
    cause: HandOffCause
    channel: str
    client_id: str | None
    operator_id: UUID | None
    operator: str | None
    why: str | None
    lines: int
    requested_at: datetime
    accepted_at: datetime | None
    waits_since: datetime | None
    due_at: datetime | None
    ended_at: datetime | None
    ticket_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A piece of a transcript. `seq` is its line's, where it was said with a person there."""

    by: str
    name: str | None
    kind: LineKind
    text: str | None
    citations: Sequence[str]
    at: datetime
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatToolCall:
    """What the agent called, with what values stand hidden; `result` is the beginning of it."""

    turn_id: UUID
    tool: str
    arguments: Mapping[str, Any]
    result: str | None
    error: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMemory:
    """What the agent had before it at its last turn: its query, what it read, the labels."""

    query: str | None
    sources: Sequence[str]
    labels: Mapping[str, Any]
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDetail(ChatView):
    """A chat with all that who takes it over needs, and how it was closed.

    Calls of tools are kept for a day.
    """

    transcript: Sequence[Utterance]
    tool_calls: Sequence[ChatToolCall]
    citations: Sequence[str]
    memory: ChatMemory
    resolution: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveChat:
    """A chat that the agent answers; `turn_id` takes it over."""

    turn_id: UUID
    channel: str
    client_id: str | None
    question: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatNumbers:
    """How many wait and are answered now; of the last seven days, how long customers waited."""

    pending: int
    active: int
    waiting_seconds: float
    accepted: int
    median_wait_seconds: float | None
    longest_wait_seconds: float | None
    closed: int
    returned: int
    tickets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseChats:
    """Reads hand-offs for people. `redact` takes personal values out of what tools said."""

    platform: Platform
    redact: Callable[[UUID, str], str]

    def page(
        self,
        principal: Principal,
        *,
        state: HandOffState | None = None,
        before: UUID | None = None,
        limit: int,
    ) -> list[ChatView]:
        """Return hand-offs, the newest first."""
        principal.require_person()
        states = [state] if state else list(HandOffState)
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.hand_offs.page(states, before=before, limit=limit)
        return [self.view(row) for row in rows]

    def waiting(self, principal: Principal, limit: int) -> list[ChatView]:
        """Return those that wait for somebody, whoever waits longest first."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.hand_offs.waiting(limit)
        return [self.view(row) for row in rows]

    def live(self, principal: Principal, limit: int) -> list[LiveChat]:
        """Return chats of the last hour that the agent answers, the newest first."""
        principal.require_person()
        now = self.platform.clock()
        with self.platform.transactions.reading(principal) as stores:
            turns = stores.chats.live(now - LIVE, limit)
        return [
            LiveChat(
                turn_id=turn.id,
                channel=turn.door or "api",
                client_id=turn.client_id,
                question=self._of_turn(principal.workspace_id, turn)
                .open(turn.question)
                .get("message"),
                at=turn.created_at,
            )
            for turn in turns
        ]

    def numbers(self, principal: Principal) -> ChatNumbers:
        """Return how many wait, and how long they wait."""
        principal.require_person()
        now = self.platform.clock()
        with self.platform.transactions.reading(principal) as stores:
            row = dict(stores.hand_offs.numbers(now - NUMBERS))
        since = row.pop("waiting_since")
        waits = max(0.0, (now - since).total_seconds()) if since else 0.0
        return ChatNumbers(waiting_seconds=waits, **row)

    def view(self, row: HandOffRow) -> ChatView:
        """Return a hand-off as it stands in lists."""
        pending = row.state is HandOffState.PENDING
        active = row.state is HandOffState.ACTIVE
        return ChatView(
            id=row.id,
            state=row.state,
            cause=row.cause,
            channel=row.door,
            client_id=row.client_id,
            operator_id=row.operator_id,
            operator=row.operator,
            why=sealer_of(self.platform, row).open(row.sealed).get("why"),
            lines=row.seq,
            requested_at=row.requested_at,
            accepted_at=row.accepted_at,
            waits_since=row.moved_at if pending else row.unanswered_since if active else None,
            due_at=row.due_at,
            ended_at=row.ended_at,
            ticket_id=row.ticket_id,
        )

    def show(self, row: HandOffRow) -> ChatDetail:
        """Return the bundle: all that was said and done, and why a person is needed."""
        turns, transcript = self._read(row)
        view = self.view(row)
        shown = {name: getattr(view, name) for name in ChatView.__slots__}
        sealer = sealer_of(self.platform, row)
        return ChatDetail(
            **shown,
            transcript=transcript,
            tool_calls=self._calls(row, turns),
            citations=list(dict.fromkeys(each for piece in transcript for each in piece.citations)),
            memory=self._memory(row, turns),
            resolution=sealer.open(row.resolution).get("resolution"),
        )

    def transcript(self, row: HandOffRow) -> str:
        """Return all that was said as a text, for a ticket."""
        why = sealer_of(self.platform, row).open(row.sealed).get("why") or ""
        _, pieces = self._read(row)
        lines = [
            f"[{format_timestamp(each.at)}] {each.name or each.by.capitalize()}: {each.text}"
            for each in pieces
            if each.text
        ]
        return "\n\n".join([why, *lines])

    def _read(self, row: HandOffRow) -> tuple[list[TurnRow], list[Utterance]]:
        """Return a chat's turns, and what was said in them and since, in order."""
        system = system_principal(row.workspace_id)
        with self.platform.transactions.reading(system) as stores:
            turns = list(stores.chats.of_session(row.session, MOST_TURNS))
            lines = stores.hand_offs.lines(row.id, after=0, limit=MOST_LINES)
        sealer = sealer_of(self.platform, row)
        with_person = {line.id for line in lines}
        pieces: list[Utterance] = []
        for turn in turns:
            if turn.id not in with_person:
                pieces += self._exchange(row.workspace_id, turn)
        for line in (opened(sealer, each) for each in lines):
            pieces.append(
                Utterance(
                    by=line.speaker.value,
                    name=line.name,
                    kind=line.kind,
                    text=line.text,
                    citations=(),
                    at=line.at,
                    seq=line.seq,
                )
            )
        return turns, sorted(pieces, key=lambda piece: (piece.at, piece.seq or 0))

    def _exchange(self, workspace_id: UUID, turn: TurnRow) -> list[Utterance]:
        sealer = self._of_turn(workspace_id, turn)
        question, answer = sealer.open(turn.question), sealer.open(turn.answer)
        by = "operator" if turn.state is TurnState.PASSED else "agent"
        spoken = [(LineBy.CUSTOMER.value, question.get("message"), (), turn.created_at)]
        if turn.answer is not None:
            citations = tuple(answer.get("citations", ()))
            spoken.append((by, answer.get("text"), citations, turn.ended_at or turn.created_at))
        return [
            Utterance(by=who, name=None, kind=LineKind.SAID, text=text, citations=cited, at=at)
            for who, text, cited, at in spoken
        ]

    def _calls(self, row: HandOffRow, turns: Sequence[TurnRow]) -> list[ChatToolCall]:
        by_id = {turn.id: self._of_turn(row.workspace_id, turn) for turn in turns}
        calls: list[ChatToolCall] = []
        for event in self._did(row, turns):
            if event["name"] != "tool_activity":
                continue
            data, texts = event["data"], by_id[event["turn_id"]].open(event["sealed"])
            if data.get("phase") == "start":
                arguments = self._redacted(row, dict(texts.get("arguments", {})))
                call = ChatToolCall(
                    turn_id=event["turn_id"],
                    tool=data["tool"],
                    arguments=arguments,
                    result=None,
                    error=None,
                    at=event["at"],
                )
                calls.append(call)
            elif calls and calls[-1].tool == data.get("tool"):
                summary = self._redacted(row, texts.get("summary"))
                calls[-1] = replace(calls[-1], result=summary, error=data.get("error"))
        return calls

    def _memory(self, row: HandOffRow, turns: Sequence[TurnRow]) -> ChatMemory:
        by_id = {turn.id: self._of_turn(row.workspace_id, turn) for turn in turns}
        screened = [
            by_id[event["turn_id"]].open(event["sealed"]).get("query")
            for event in self._did(row, turns)
            if event["name"] == "agent_end" and event["data"].get("name") == "gateway"
        ]
        answers = [by_id[turn.id].open(turn.answer) for turn in turns if turn.answer is not None]
        empty: dict[str, Any] = {}
        last = next((each for each in reversed(answers) if each.get("labels")), empty)
        return ChatMemory(
            query=self._redacted(row, next(reversed(screened), None)),
            sources=tuple(last.get("citations", ())),
            labels=last.get("labels", {}),
            turns=len(turns),
        )

    def _did(self, row: HandOffRow, turns: Sequence[TurnRow]) -> Sequence[dict[str, Any]]:
        with self.platform.transactions.reading(system_principal(row.workspace_id)) as stores:
            return stores.chats.did([turn.id for turn in turns], MOST_DID)

    def _redacted(self, row: HandOffRow, value: Any) -> Any:
        """Return a value whose texts, however deep, hide what is personal."""
        if isinstance(value, str):
            return self.redact(row.workspace_id, value)
        if isinstance(value, dict):
            of = cast("dict[str, Any]", value)
            return {name: self._redacted(row, each) for name, each in of.items()}
        if isinstance(value, list):
            return [self._redacted(row, each) for each in cast("list[Any]", value)]
        return value

    def _of_turn(self, workspace_id: UUID, turn: TurnRow) -> Sealer:
        return Sealer.of(self.platform, workspace_id, turn.id, tuple(turn.data_subjects))
