"""The tools of customers' chats: looking things up in the documents that are public, and a person.

Whatever else a workspace keeps as public (memories, what others said) is not looked at; so what an
answer there cites is a public document.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.chat.handoff import HandOffCause
from cairn.chat.tools import Does, Result, Toolbox
from cairn.graph.node import Label
from cairn.investigations.citations import citations
from cairn.kernel.access import Scope
from cairn.kernel.errors import CairnError
from cairn.kernel.text.elements import as_data, one_line
from cairn.llm.port import Tool
from cairn.recall.query import MAX_QUERY_CHARS, SearchRequest
from cairn.recall.rendering import citation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.chat.hand_offs import HandOffs
    from cairn.chat.widget_sessions import CustomerSession
    from cairn.kernel.access import Principal
    from cairn.recall.results import RecallResult

NAME = "documents_search"
NOTHING = "Nothing was found."
MOST = 6
LABELS = (Label.DOCUMENT, Label.SECTION, Label.CHUNK)
TOOL = Tool(
    name=NAME,
    description="Find passages of the public documents by meaning and words, each with the "
    "citation that stands after it.",
    schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "In plain words"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)

MOST_REASON_CHARS = 300
PERSON = Tool(
    name="ask_a_person",
    description="Call a person of the team into this chat: when the customer wants one, or "
    "when the public documents do not solve what they need. They answer from then on.",
    schema={
        "type": "object",
        "properties": {
            "reason": {"type": "string", "description": "One sentence: why you could not solve it"}
        },
        "required": ["reason"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTools:
    """Makes what a customer's turn may do."""

    recall: Callable[[Principal, SearchRequest], RecallResult]
    hand_offs: HandOffs

    def __call__(self, principal: Principal, session: CustomerSession) -> Toolbox:
        """Return the toolbox of a turn."""
        call = partial(self._called, principal)
        if session.hand_off is None:
            return Toolbox(tools=(TOOL,), waits=frozenset(), call=call, does={Does.RECALL: NAME})

        def called(name: str, arguments: Mapping[str, Any]) -> Result:
            return (
                self._person(session, arguments) if name == PERSON.name else call(name, arguments)
            )

        does = {Does.RECALL: NAME, Does.PERSON: PERSON.name}
        return Toolbox(tools=(TOOL, PERSON), waits=frozenset(), call=called, does=does)

    def _person(self, session: CustomerSession, arguments: Mapping[str, Any]) -> Result:
        """Ask for a person: the model with its reason, or rules, because the message says so."""
        reason = arguments.get("reason")
        why = one_line(reason)[:MOST_REASON_CHARS] if isinstance(reason, str) else ""
        cause = HandOffCause.AGENT if why else HandOffCause.RULES
        try:
            self.hand_offs.request(session, cause, why or None)
        except CairnError as error:
            return Result(tool=PERSON.name, text=error.detail, error=error.code)
        return Result(tool=PERSON.name, text="A person was called and will answer in this chat.")

    def _called(self, principal: Principal, name: str, arguments: Mapping[str, Any]) -> Result:
        query = arguments.get("query")
        if name != NAME or not isinstance(query, str) or not query.strip():
            wrong = "validation-failed"
            return Result(tool=name, text=f"{wrong}: send a query.", error=wrong)
        request = SearchRequest(
            query=query[:MAX_QUERY_CHARS],
            limit=MOST,
            labels=tuple(each.value for each in LABELS),
            scopes=(Scope.PUBLIC,),
            recipe="knowledge",
            expand_hops=0,
        )
        try:
            recalled = self.recall(principal, request)
        except CairnError as error:
            return Result(tool=name, text=f"{error.code}: {error.detail}", error=error.code)
        nodes = [each.node for each in recalled.results if each.node.label in LABELS]
        rows = [
            {"text": without_citations(node.text), "source": citation_of(node)} for node in nodes
        ]
        rows = [row for row in rows if row["source"].startswith("[doc:")]
        text = "\n".join(f"{as_data('passage', row['text'])} {row['source']}" for row in rows)
        return Result(tool=name, text=text or NOTHING, structured={"results": rows})


def without_citations(text: str) -> str:
    """Return a text in which nothing looks like a citation: it is no source of anything."""
    for each in citations(text):
        text = text.replace(str(each), "")
    return text
