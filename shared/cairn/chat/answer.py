"""Answering a turn: screening, then a model with tools or rules, then the record of what was said.

A failure of a model costs its words, never the turn: rules answer, and say so.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.chat.actions import Propose
from cairn.chat.loop import SYSTEM, Answer, Loop, account, cited, use
from cairn.chat.rows import AnsweredBy, ChatActionState, TurnState
from cairn.chat.rules import ByRules, says_something, wants_person, wish_of, yes_or_no
from cairn.chat.telling import Stopped, Teller
from cairn.chat.tools import Does
from cairn.chat.window import Exchange, before_the_model, grown, room_of, since
from cairn.chat.wording import phrase
from cairn.conversations.messages import Channel, GateReason, MessageRole, NewMessage
from cairn.kernel.access import Role, Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.kernel.metrics import Metric, untold
from cairn.kernel.spans import span
from cairn.llm.port import Purpose
from cairn.llm.port import Role as Speaker
from cairn.recall.questions.gate import Turn as Said
from cairn.safety.screening import Verdict
from cairn.writing.checks import MAX_TEXT_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.chat.actions import Actions
    from cairn.chat.titles import Titles
    from cairn.chat.tools import Toolbox
    from cairn.chat.turns import Turn, Turns
    from cairn.chat.views import Told
    from cairn.chat.window import Briefing, Earlier
    from cairn.conversations.record import MessageRecorded, RecordMessage
    from cairn.inbound.gateway import InboundGateway
    from cairn.inbound.labels import Screened
    from cairn.kernel.access import Principal
    from cairn.kernel.metrics import Metrics
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform

    Behind = Callable[[Principal, UUID, int, bool], None]
    """(who, conversation, tokens, quickly): makes a session shorter, behind a turn. Never fails."""

NAME = "Cairn"
SHORTER = 3
"""A session that grew too long is made shorter to this part of it."""


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """What is known of a turn by now."""

    answer: Answer
    state: TurnState = TurnState.DONE
    source: AnsweredBy = AnsweredBy.RULES
    error: str | None = None
    title: str | None = None
    suggestions: Sequence[str] = ()
    room: int | None = None  # of its model's window, for what was said before; None without one


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTurn:
    """Works on turns. `models` is None where no provider is configured."""

    platform: Platform
    turns: Turns
    actions: Actions
    screen: InboundGateway
    record: RecordMessage
    models: Gateway | None
    titles: Titles
    metrics: Metrics = untold
    snapshot: Callable[[Principal], str] = field(default=lambda of: "")
    briefing: Callable[[Principal, UUID], Briefing | None] = field(default=lambda of, name: None)
    compact: Behind = field(default=lambda principal, name, tokens, quickly: None)

    def __call__(
        self,
        turn: Turn,
        toolbox: Toolbox,
        listen: Callable[[Sequence[Told]], None] = lambda teller_: None,
    ) -> Callable[[bool], None] | None:
        """Answer a turn that was begun; whatever goes wrong ends it, and is told.

        Returns what is to be done behind it, which takes whether that must be quick; None: nothing.
        """
        teller = Teller(
            platform=self.platform,
            principal=turn.principal,
            turn_id=turn.id,
            sealer=turn.sealer,
            listen=listen,
        )
        attributes = {"gen_ai.operation.name": "invoke_agent", "cairn.turn_id": str(turn.id)}
        try:
            with span("invoke_agent chat", attributes):
                return self._work(turn, toolbox, teller)
        except Stopped:
            return None
        except Exception as problem:
            code = problem.code if isinstance(problem, CairnError) else "internal"
            fields = {"turn_id": str(turn.id), "error": type(problem).__name__}
            self.platform.warn("chat.turn_failed", fields)
            with suppress(CairnError):
                teller.tell("graph_end", name="chat", state=TurnState.FAILED.value, error=code)
            self._end(turn, TurnState.FAILED, None, {"error": code})
            if not isinstance(problem, CairnError):
                raise
            return None

    def _work(self, turn: Turn, toolbox: Toolbox, teller: Teller) -> Callable[[bool], None] | None:
        began = teller.begin("graph", "chat", turn_id=str(turn.id))
        history = self.turns.history(turn)
        gate = teller.begin("agent", "gateway")
        screened = self.screen(
            turn.principal.workspace_id,
            turn.message,
            channel="chat",
            history=_history_turns(history),
            run_id=turn.id,
        )
        labels = screened.of_message()
        teller.end("agent", "gateway", gate, {"query": screened.query}, **screened.labels())
        earlier = self._earlier(turn, history)
        outcome = self._outcome(turn, toolbox, teller, screened, earlier)
        text, citations = cited(outcome.answer)
        if text != outcome.answer.text and text.startswith(outcome.answer.text):
            teller.say(text[len(outcome.answer.text) :], outcome.answer.rounds)
        recorded = self._recorded(turn, outcome, text, labels)
        self._decorate(turn, outcome, text, history, screened.language)
        body: dict[str, Any] = {
            "text": text,
            "citations": list(citations),
            "labels": labels,
            "title": outcome.title,
            "suggestions": list(outcome.suggestions),
            "error": outcome.error,
            "conversation_id": str(recorded.conversation_id),
            "message_id": str(recorded.message_id),
        }
        self._measured(turn, outcome, teller)
        ended = {"state": outcome.state.value, "source": outcome.source.value}
        shown = {"answer": text, **{name: body[name] for name in body if name != "text"}}
        teller.end("graph", "chat", began, shown, **ended)
        self._end(turn, outcome.state, outcome.source, body)
        exchange = Exchange(question=turn.message, answer=text)
        size = None if outcome.room is None else grown(earlier, exchange, outcome.room)
        if size is None or turn.principal.role is Role.PUBLIC:  # what strangers say stays theirs
            return None
        tokens = min(outcome.room or 0, size) // SHORTER
        return partial(self.compact, turn.principal, recorded.conversation_id, tokens)

    def _measured(self, turn: Turn, outcome: _Outcome, teller: Teller) -> None:
        answer, timings = outcome.answer, sorted(teller.timings.items())
        if answer.searches:
            workspace = turn.principal.workspace_id
            self.metrics(Metric.TOOL_SEARCHES, answer.searches, workspace=workspace)
        teller.tell(
            "debug_meta",
            timings=[{"name": name, "duration_ms": round(1000 * took)} for name, took in timings],
            source=outcome.source.value,
            rounds=answer.rounds,
            tools=list(answer.tools),
            tool_searches=answer.searches,
            tools_found=list(answer.searched),
        )

    def _outcome(
        self,
        turn: Turn,
        toolbox: Toolbox,
        teller: Teller,
        screened: Screened,
        earlier: Earlier,
    ) -> _Outcome:
        language = screened.language
        if screened.verdict is Verdict.DISCARD and turn.principal.role is Role.PUBLIC:
            answer = _stream_text(teller, phrase("refused", language))
            return _Outcome(answer=answer, state=TurnState.REFUSED)
        decision = yes_or_no(turn.message)
        telling = replace(toolbox, call=partial(use, teller, toolbox))
        if decision is not None and (answer := self._decided(turn, telling, decision, language)):
            _stream_text(teller, answer.text)
            return _Outcome(answer=answer)
        if Does.PERSON in toolbox.does and wants_person(turn.message):
            result = use(teller, toolbox, toolbox.does[Does.PERSON], {})
            text = phrase("person", language) if result.error is None else result.text
            return _Outcome(answer=_stream_text(teller, text))
        agent = teller.begin("agent", "chat")
        propose = Propose(teller=teller, session=turn.session)
        outcome = self._by_model(turn, toolbox, teller, propose, screened, earlier)
        if outcome.source is AnsweredBy.RULES:
            rules = ByRules(
                teller=teller,
                toolbox=toolbox,
                propose=propose,
                language=language,
                session=turn.session_id,
                client_id=turn.client_id,
            )
            answer = rules(turn.message, screened.query)
            if outcome.error is not None:
                answer = replace(answer, text=f"{phrase('fallback', language)}\n{answer.text}")
            outcome.answer = answer
            _stream_text(teller, answer.text)
        teller.end("agent", "chat", agent, source=outcome.source.value)
        return outcome

    def _by_model(
        self,
        turn: Turn,
        toolbox: Toolbox,
        teller: Teller,
        propose: Propose,
        screened: Screened,
        earlier: Earlier,
    ) -> _Outcome:
        """Return the model's answer, or why rules must answer; `error` None: there is no model."""
        nothing = _Outcome(answer=Answer(text=""))
        try:
            if self.models is None or not self.models.answers(
                Purpose.CHAT, turn.principal.workspace_id
            ):
                return nothing
            window = self.models.window(Purpose.CHAT, turn.principal.workspace_id)
            system = SYSTEM.format(name=NAME, labels=screened.labels())
            if knows := self.snapshot(turn.principal):
                system += "\n\n" + knows
            nothing.room = room_of(window or 0, system, toolbox.tools)
            loop = Loop(
                models=self.models,
                call=account(turn.principal.workspace_id, turn.id),
                teller=teller,
                toolbox=toolbox,
                propose=propose,
                system=system,
            )
            answer = loop(before_the_model(earlier, turn.message, room=nothing.room))
        except Stopped:
            raise
        except CairnError as problem:
            self.platform.warn("chat.model_failed", {"reason": problem.reason})
            nothing.error = problem.reason
            return nothing
        return _Outcome(answer=answer, source=AnsweredBy.MODEL, room=nothing.room)

    def _earlier(self, turn: Turn, history: Sequence[Exchange]) -> Earlier:
        """Return what is kept of the session, and the turns since; a failure costs nothing."""
        where = next((each.conversation_id for each in reversed(history)), None)
        if self.models is None or where is None or turn.principal.role is Role.PUBLIC:
            return since(history, None)
        try:
            return since(history, self.briefing(turn.principal, where))
        except Exception as problem:  # noqa: BLE001 - a turn goes on without what was dropped
            fields = {"turn_id": str(turn.id), "error": type(problem).__name__}
            self.platform.warn("chat.no_briefing", fields)
            return since(history, None)

    def _decided(
        self, turn: Turn, toolbox: Toolbox, yes: bool, language: str | None
    ) -> Answer | None:
        """Take a plain yes or no for the one thing that waits; None when it is not one thing."""
        waiting = self.actions.waiting(turn.principal, turn.session)
        if len(waiting) != 1:
            return None
        action = waiting[0]
        done = self.actions.decide(
            turn.principal, action.id, toolbox, confirm=yes, arguments_hash=action.arguments_hash
        )
        if done.state is ChatActionState.CANCELLED:
            return Answer(text=phrase("cancelled", language))
        worked = done.state is ChatActionState.DONE
        head = phrase("done" if worked else "failed", language)
        return Answer(text=f"{head} {done.result or done.tool}", tools=(done.tool,))

    def _recorded(
        self, turn: Turn, outcome: _Outcome, text: str, labels: dict[str, Any]
    ) -> MessageRecorded:
        """Keep both messages. After the answer: a question must not find itself."""
        refused = outcome.state is TurnState.REFUSED
        echo = not says_something(turn.message)
        message = self._message(turn, MessageRole.USER, turn.message, echo=echo)
        gate = GateReason.OTHER if refused else None
        message = replace(message, labels=labels, accepted=not refused, gate_reason=gate)
        if turn.principal.role is Role.PUBLIC or wish_of(turn.message).does is not Does.RECALL:
            message = replace(message, infer=False)  # orders state nothing, strangers teach nobody
        speaker = _speaker(turn.principal)
        recorded = self.record(speaker, message)
        quotes = outcome.source is AnsweredBy.RULES or bool(outcome.answer.sources)
        content = (text.strip() or "(no answer)")[:MAX_TEXT_CHARS]
        answered = self._message(turn, MessageRole.ASSISTANT, content, echo=quotes)
        self.record(speaker, replace(answered, infer=False))
        return recorded

    def _message(self, turn: Turn, role: MessageRole, text: str, *, echo: bool) -> NewMessage:
        """Return a message of the turn; an `echo` is no evidence, and in no result of a search."""
        public = turn.principal.role is Role.PUBLIC
        slug = turn.principal.agent_slug
        name = f"{turn.principal.principal_id}:{turn.session_id}" if public else turn.session_id
        client: dict[str, Any] = {"client_id": turn.client_id} if turn.client_id else {}
        return NewMessage(
            channel=turn.channel or (Channel.WEBCHAT if public else Channel.API),
            session_id=name[:MAX_SESSION_CHARS],
            role=role,
            text=text,
            scope=Scope.PUBLIC if public else None,
            agents=(slug,) if public and slug else (),
            metadata={"chat": {"turn_id": str(turn.id), "echo": echo}},
            **client,
        )

    def _decorate(
        self,
        turn: Turn,
        outcome: _Outcome,
        text: str,
        history: Sequence[Exchange],
        language: str | None,
    ) -> None:
        if outcome.state is not TurnState.DONE:
            return
        if not history and turn.titled:
            outcome.title = self.titles.title(turn.principal.workspace_id, turn.message)
        if turn.suggest:
            outcome.suggestions = self.titles.suggestions(
                turn.principal.workspace_id, turn.message, text, language=language
            )

    def _end(
        self, turn: Turn, state: TurnState, source: AnsweredBy | None, body: dict[str, Any]
    ) -> None:
        with self.platform.transactions.preparing(turn.principal) as (stores, _):
            stores.chats.end(
                turn.id,
                state,
                source=source,
                answer=turn.sealer.seal(body),
                now=self.platform.clock(),
            )


MAX_SESSION_CHARS = 255


def _stream_text(teller: Teller, text: str) -> Answer:
    teller.say(text, 1)
    return Answer(text=text)


def _speaker(principal: Principal) -> Principal:
    """Return who records: the caller; for a public key Cairn itself, in public alone."""
    if principal.role is not Role.PUBLIC:
        return principal
    return replace(
        system_principal(principal.workspace_id),
        allowed_scopes=frozenset({Scope.PUBLIC}),
        agent_slug=principal.agent_slug,
        client_id=principal.client_id,
    )


def _history_turns(history: Sequence[Exchange]) -> list[Said]:
    return [
        turn
        for each in history
        for turn in (
            Said(role=Speaker.USER, text=each.question),
            Said(role=Speaker.ASSISTANT, text=each.answer),
        )
    ]
