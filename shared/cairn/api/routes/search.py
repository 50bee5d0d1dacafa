"""Search: one question, the few things that matter, each with its scores and its source."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Body as BodyParameter
from fastapi import Request, Response
from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from cairn.api import streams
from cairn.api.answers import MEDIA_TYPE, encode, fitting
from cairn.api.conditions import ConditionIn, Where
from cairn.api.dependencies import Anyone, Options, Services, require_client
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name, Namespace, ScopeName, Text, Timestamp, at_most, timestamp
from cairn.api.recall_answers import SearchAnswer
from cairn.api.routing import router
from cairn.api.traces import of_search
from cairn.graph.intent_weights import Intent
from cairn.kernel.access import Scope
from cairn.kernel.records import convert
from cairn.llm.port import Role as Speaker
from cairn.memories.kinds import MemoryKind
from cairn.recall.query import (
    CHAR_BUDGET,
    LEAST_CHARS,
    MAX_FIELDS,
    MAX_HISTORY,
    MAX_HOPS,
    MAX_LABELS,
    MAX_NEIGHBOURS,
    MAX_QUERY_CHARS,
    MAX_RESULTS,
    MAX_TURN_CHARS,
    MOST_CHARS,
    Format,
    SearchRequest,
)
from cairn.recall.questions.gate import Turn
from cairn.recall.switches import STAGES
from cairn.recall.walks.graph_ports import Method

routes = router("search")


def _moment(value: object) -> object:
    return value if isinstance(value, int) and not isinstance(value, bool) else timestamp(value)


KindName = Annotated[MemoryKind, Field(strict=False)]
Label = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]{0,63}$")]
Moment = Annotated[
    datetime | Annotated[int, Field(ge=0, le=2**53 - 1)],
    BeforeValidator(_moment),
    Field(description="A time, or a ledger position: what was known then."),
]


def _stages(value: dict[str, bool]) -> dict[str, bool]:
    for name in value:
        if name not in STAGES:
            raise PydanticCustomError(
                "stage", "There is no such stage; there are {known}", {"known": ", ".join(STAGES)}
            )
    return value


Stages = Annotated[
    dict[str, bool],
    AfterValidator(_stages),
    Field(description=f"Stages switched on or off: {', '.join(STAGES)}."),
]


class TurnIn(Body):
    """One earlier message of the conversation, for the gate."""

    role: Literal["user", "assistant"]
    text: Annotated[Text, at_most(MAX_TURN_CHARS)]


History = Annotated[list[TurnIn], Field(max_length=MAX_HISTORY)]
Fields = Annotated[list[Name], Field(max_length=MAX_FIELDS)]


class SearchIn(Body):
    """A question and how to answer it."""

    query: Annotated[Text, at_most(MAX_QUERY_CHARS)]
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)] | None = None
    kinds: Annotated[list[KindName], Field(max_length=4)] = Field(default_factory=list[MemoryKind])
    labels: Annotated[list[Label], Field(max_length=MAX_LABELS)] = Field(default_factory=list[str])
    client_id: Name | None = None
    scopes: Annotated[list[ScopeName], Field(max_length=3)] = Field(default_factory=list[Scope])
    occurred_from: Timestamp | None = None
    occurred_to: Timestamp | None = None
    valid_at: Timestamp | None = None
    as_of: Moment | None = None
    include_superseded: bool = False
    neighbours: Annotated[int, Field(ge=0, le=MAX_NEIGHBOURS)] = 1
    format: Annotated[Format, Field(strict=False)] = Format.FULL
    recipe: Name | None = None
    method: Annotated[Method, Field(strict=False)] | None = None
    stages: Stages = Field(default_factory=dict[str, bool])
    intent: Annotated[Intent, Field(strict=False)] | None = None
    history: History = Field(default_factory=list[TurnIn])
    session_id: Name | None = None
    gate: bool | None = None
    expand_hops: Annotated[int, Field(ge=0, le=MAX_HOPS)] | None = None
    min_relevance: Annotated[float, Field(ge=0, le=1)] | None = None
    fields: Fields | None = None
    max_chars: Annotated[int, Field(ge=LEAST_CHARS, le=MOST_CHARS)] = CHAR_BUDGET
    namespace: Namespace | None = None
    namespace_prefix: Namespace | None = None
    where: Where = Field(default_factory=list[ConditionIn])
    personalize_for: Name | None = None

    @model_validator(mode="after")
    def end_after_beginning(self) -> "SearchIn":
        """Refuse a span of time that ends before it begins."""
        if self.occurred_from and self.occurred_to and self.occurred_to < self.occurred_from:
            raise PydanticCustomError("order", "occurred_to is before occurred_from")
        return self

    def record(self) -> SearchRequest:
        """Return the use case's record."""
        turns = (Turn(role=Speaker(each.role), text=each.text) for each in self.history)
        where = tuple(each.record() for each in self.where)
        return convert(self, SearchRequest, history=tuple(turns), where=where)


@routes.post(
    "/v1/search",
    summary="Recall",
    response_model=None,
    responses={
        **answers(
            200,
            "Results in rank order, and what happened",
            SearchAnswer,
            picture=streams.MEDIA_TYPE,
        ),
        **problems(body=True),
    },
)
def search(
    body: Annotated[
        SearchIn,
        BodyParameter(
            openapi_examples={"plain": {"value": {"query": "What runs Acme's website?"}}}
        ),
    ],
    caller: Anyone,
    services: Services,
    options: Options,
    request: Request,
) -> Response:
    """Find memories and document chunks by meaning and by words, as the key may see them.

    A part that failed is named in `meta.degraded`. `meta.truncated` says that there was more than
    is shown, and `meta.dropped` what was left out because the answer would have been too large.

    Asked for `text/event-stream`, it answers with the search's trace events; the last has it all.
    """
    require_client(services, caller, body.client_id)
    match = services.search(caller, body.record())
    text = {} if match.text is None else {"text": match.text}
    content: dict[str, Any] = {"results": match.results, "meta": match.meta, **text}
    whole = encode(content)
    if len(whole) > options.max_answer_bytes:
        meta = dict(match.meta)
        room = options.max_answer_bytes - len(encode(meta)) - 4096
        results = fitting(match.results, max_bytes=room)
        meta.update(truncated=True, nodes_returned=len(results))
        content = {"results": results, "meta": meta}
        whole = encode(content)
    if streams.wanted(request):
        events = b"".join(map(streams.written, of_search(content)))
        return Response(events, media_type=streams.MEDIA_TYPE)
    return Response(whole, media_type=MEDIA_TYPE)
