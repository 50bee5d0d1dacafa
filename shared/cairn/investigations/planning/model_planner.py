"""Plans by chat models: a step, a tool, a verdict, a message. A `Planner`; nothing is executed.

What a ticket or a result could try, and why it gains little. Its text stands in elements it cannot
close, and the prompts say that it is data; a model may follow it all the same. Then the most it
gets is a search, a call of a tool in the catalogue that the safety rules still judge, or an end. A
tool that does not exist, arguments of wrong types and citations of nothing never leave this file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

from cairn.investigations import citations
from cairn.investigations.planning.envelope import Bounds, Envelope, enclosed
from cairn.investigations.planning.letters import sober
from cairn.investigations.planning.prompts import (
    planner,
    summarizer,
    tool_selector,
    triage,
    verdict,
)
from cairn.investigations.planning.records import misfit
from cairn.investigations.ports import Ruling
from cairn.investigations.state import NextKind, Plan, Verdict
from cairn.kernel.errors import Unavailable
from cairn.kernel.text.elements import one_line
from cairn.llm.costs import Call
from cairn.llm.port import ChatRequest, Finish, Message, Purpose, Role
from cairn.llm.structured import AnswerShape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.ports import Question
    from cairn.kernel.text.json_value import JsonValue
    from cairn.llm.gateway import Gateway
    from cairn.llm.port import ChatAnswer
    from cairn.llm.structured import Structured
    from cairn.safety.tools import ToolSpec

SECONDS = 60.0
"""What an answer is waited for, the other attempts included."""

ATTEMPTS = 2
NO_TOOL = "planner-no-tool"

Shape = TypeVar("Shape", bound=AnswerShape)


def _default(_: UUID) -> Bounds:
    return Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlanner:
    """Asks through the gateway on the investigation's account; `bounds` are of its workspace.

    Raises as the gateway does: BudgetExceeded, and Unavailable when no model answers in shape.
    """

    gateway: Gateway
    bounds: Callable[[UUID], Bounds] = field(default=_default)

    def triage(self, question: Question) -> Ruling | None:
        """As `Planner`."""
        shown = self._shown(question)
        request = ChatRequest(
            purpose=Purpose.CLASSIFIER,
            system=_joined(triage.SYSTEM, shown.persona),
            messages=shown.messages[:1],
        )
        answer = self._structured(request, triage.Worth, question)
        if answer.value.worth:
            return None
        reason = answer.value.reason or "nothing is asked for"
        return Ruling(verdict=Verdict.SKIPPED, reason=reason, provider=answer.answer.provider)

    def plan(self, question: Question) -> Plan:
        """As `Planner`; an invented citation is left out, a search for nothing new concludes."""
        shown = self._shown(question)
        request = ChatRequest(
            purpose=Purpose.PLANNER,
            system=_joined(shown.manifest, planner.SYSTEM, shown.persona),
            context=shown.context,
            messages=shown.messages,
            goes_on=True,
        )
        answer = self._structured(request, planner.NextStep, question)
        step, provider = answer.value, answer.answer.provider
        if step.kind is NextKind.ACT:
            return self._selected(question, shown, step)
        query = step.query or one_line(question.memory.brief.title)
        useless = not query or query in question.memory.queries
        if step.kind is NextKind.RETRIEVE and not (useless or question.memory.skip_retrieval):
            return Plan(kind=NextKind.RETRIEVE, reason=step.reason, query=query, provider=provider)
        return Plan(kind=NextKind.CONCLUDE, reason=step.reason, provider=provider)

    def verdict(self, question: Question) -> Ruling:
        """As `Planner`; a verdict that nothing supports becomes needs_tech."""
        shown = self._shown(question)
        request = ChatRequest(
            purpose=Purpose.VERDICT,
            system=_joined(verdict.SYSTEM, shown.persona),
            context=shown.context,
            messages=(*shown.messages, _user_message(verdict.ASKED)),
        )
        answer = self._structured(request, verdict.Judgement, question)
        ruling = Ruling(
            verdict=Verdict(answer.value.verdict.value),
            reason=answer.value.reason,
            provider=answer.answer.provider,
        )
        return sober(ruling, question.memory)

    def summary(self, question: Question, ruling: Ruling) -> str:
        """As `Planner`; claims without a source are asked about once more, then say so."""
        shown, memory = self._shown(question), question.memory
        sources = citations.sources(memory)
        ask = summarizer.ASKED.format(
            verdict=ruling.verdict,
            reason=one_line(ruling.reason),
            what=summarizer.ANSWER if ruling.verdict.answers else summarizer.NOTE,
            language=memory.brief.language,
        )
        request = ChatRequest(
            purpose=Purpose.SUMMARIZER,
            system=_joined(summarizer.SYSTEM, shown.persona),
            context=shown.context,
            messages=(*shown.messages, _user_message(ask)),
        )
        text = self._structured(request, summarizer.Letter, question).value.written()
        if lacking := citations.unsourced(text, sources):
            text = self._again(request, text, lacking, question)
        return citations.disclaimed(text, sources, language=memory.brief.language)

    def _again(
        self,
        request: ChatRequest,
        text: str,
        lacking: Sequence[citations.Claim],
        question: Question,
    ) -> str:
        """Return a second message when it leaves fewer claims without a source than the first."""
        listed = "\n".join(f"- {one_line(claim.text)}" for claim in lacking)
        chat_request = _with(request, text, summarizer.AGAIN.format(claims=listed))
        try:
            second = self._structured(chat_request, summarizer.Letter, question).value.written()
        except Unavailable:
            return text
        sources = citations.sources(question.memory)
        return second if len(citations.unsourced(second, sources)) < len(lacking) else text

    def _selected(self, question: Question, shown: Envelope, step: planner.NextStep) -> Plan:
        """Return the call a model wants made, or the end when it says that none serves.

        It is told once what is wrong with a call. Raises Unavailable (planner-no-tool) when the
        second is wrong, too.
        """
        ask = tool_selector.ASKED.format(reason=step.reason, tool=step.tool)
        request = ChatRequest(
            purpose=Purpose.TOOL_SELECTOR,
            tools=shown.tools,
            system=_joined(tool_selector.SYSTEM, shown.persona),
            context=shown.context,
            messages=(*shown.messages, _user_message(ask)),
        )
        for _ in range(2):
            answer = self.gateway.chat(request, _call(question), question.budget)
            if not answer.tool_calls and answer.finish is Finish.COMPLETE:
                return _none(answer)
            tool, arguments, fault = _read(answer, shown.names)
            if tool is not None and fault is None:
                return _act(question, step, tool, arguments, answer)
            request = _with(
                request, answer.text or "(a call)", tool_selector.AGAIN.format(fault=fault)
            )
        raise Unavailable("The model calls no tool that there is.", reason=NO_TOOL)

    def _shown(self, question: Question) -> Envelope:
        return enclosed(question, self.bounds(question.workspace_id))

    def _structured(
        self, request: ChatRequest, shape: type[Shape], question: Question
    ) -> Structured[Shape]:
        return self.gateway.structured(request, shape, _call(question), question.budget)


def _act(
    question: Question,
    step: planner.NextStep,
    tool: ToolSpec,
    arguments: Mapping[str, JsonValue],
    answer: ChatAnswer,
) -> Plan:
    return Plan(
        kind=NextKind.ACT,
        reason=step.reason,
        connector=tool.connector,
        tool=tool.name,
        arguments=arguments,
        evidence=_resolving(step.evidence, question),
        provider=answer.provider,
    )


def _none(answer: ChatAnswer) -> Plan:
    """Return the end of an investigation whose model finds no tool for its own step."""
    text = one_line(answer.text)[: planner.MAX_REASON_CHARS] or "no tool can take the next step"
    return Plan(kind=NextKind.CONCLUDE, reason=text, provider=answer.provider)


def _read(
    answer: ChatAnswer, names: Mapping[str, ToolSpec]
) -> tuple[ToolSpec | None, Mapping[str, JsonValue], str | None]:
    """Return the tool of the first call, its arguments, and what is wrong with them.

    A call that was cut off may have lost arguments nobody would miss: it is none.
    """
    if answer.finish not in (Finish.COMPLETE, Finish.TOOLS) or not answer.tool_calls:
        return None, {}, "there is no whole call in it"
    call = answer.tool_calls[0]
    by_key = {name.key: name for name in names.values()}
    tool = names.get(call.name) or by_key.get(call.name)
    if tool is None:
        return None, {}, "there is no such tool"
    try:
        value = cast("object", json.loads(json.dumps(dict(call.arguments), allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        return tool, {}, "the arguments are no JSON"
    arguments = cast("Mapping[str, JsonValue]", value)
    return tool, arguments, misfit(tool, arguments)


def _resolving(tokens: Sequence[str], question: Question) -> tuple[str, ...]:
    """Return those citations that name something known, each once."""
    sources = citations.sources(question.memory)
    read = [citations.parse(token) for token in tokens]
    results = [str(item) for item in read if item is not None and citations.resolves(item, sources)]
    return tuple(dict.fromkeys(results))


def _call(question: Question) -> Call:
    return Call(
        workspace_id=question.workspace_id,
        run_id=question.investigation_id,
        attempts=ATTEMPTS,
        seconds=SECONDS,
    )


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _user_message(text: str) -> Message:
    return Message(role=Role.USER, text=text)


def _with(request: ChatRequest, text: str, then: str) -> ChatRequest:
    turns = (Message(role=Role.ASSISTANT, text=text), _user_message(then))
    return replace(request, messages=(*request.messages, *turns))
