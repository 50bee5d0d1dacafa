"""The one tool of the chat widget: looking things up in the documents that are public.

Whatever else a workspace keeps as public (memories, what others said) is not looked at; so what an
answer there cites is a public document.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.chat.tools import Does, Result, Toolbox
from cairn.graph.node import Label
from cairn.investigations.citations import citations
from cairn.kernel.access import Scope
from cairn.kernel.errors import CairnError
from cairn.kernel.text.elements import as_data
from cairn.llm.port import Tool
from cairn.recall.query import MAX_QUERY_CHARS, SearchRequest
from cairn.recall.rendering import citation_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

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


def public_toolbox(services: ApiServices, principal: Principal) -> Toolbox:
    """Return what a widget's turn may do."""
    return Toolbox(
        tools=(TOOL,),
        waits=frozenset(),
        call=partial(_called, services, principal),
        does={Does.RECALL: NAME},
    )


def _called(
    services: ApiServices, principal: Principal, name: str, arguments: Mapping[str, Any]
) -> Result:
    query = arguments.get("query")
    if name != NAME or not isinstance(query, str) or not query.strip():
        return Result(tool=name, text="validation-failed: send a query.", error="validation-failed")
    request = SearchRequest(
        query=query[:MAX_QUERY_CHARS],
        limit=MOST,
        labels=tuple(each.value for each in LABELS),
        scopes=(Scope.PUBLIC,),
        recipe="knowledge",
        expand_hops=0,
    )
    try:
        recalled = services.search.recall(principal, request)
    except CairnError as error:
        return Result(tool=name, text=f"{error.code}: {error.detail}", error=error.code)
    nodes = [each.node for each in recalled.results if each.node.label in LABELS]
    rows = [{"text": without_citations(node.text), "source": citation_of(node)} for node in nodes]
    rows = [row for row in rows if row["source"].startswith("[doc:")]
    text = "\n".join(f"{as_data('passage', row['text'])} {row['source']}" for row in rows)
    return Result(tool=name, text=text or NOTHING, structured={"results": rows})


def without_citations(text: str) -> str:
    """Return a text in which nothing looks like a citation: it is no source of anything."""
    for each in citations(text):
        text = text.replace(str(each), "")
    return text
