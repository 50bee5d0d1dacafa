"""Search: one question, the few things that matter, each with its scores and its source."""

from datetime import datetime
from typing import Annotated

from fastapi import Body as BodyParameter
from fastapi import Response
from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from cairn.access import Scope
from cairn.api.answers import answer, encode, fitting
from cairn.api.dependencies import Anyone, Options, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name, ScopeName, Text, Timestamp, at_most, timestamp
from cairn.api.routing import router
from cairn.memory.kinds import MemoryKind
from cairn.retrieval.query import (
    MAX_LABELS,
    MAX_NEIGHBOURS,
    MAX_QUERY_CHARS,
    MAX_RESULTS,
    Format,
    SearchRequest,
)

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


class SearchIn(Body):
    """A question and how to answer it."""

    query: Annotated[Text, at_most(MAX_QUERY_CHARS)]
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10
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

    @model_validator(mode="after")
    def end_after_beginning(self) -> "SearchIn":
        """Refuse a span of time that ends before it begins."""
        if self.occurred_from and self.occurred_to and self.occurred_to < self.occurred_from:
            raise PydanticCustomError("order", "occurred_to is before occurred_from")
        return self

    def record(self) -> SearchRequest:
        """Return the use case's record."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        for name in ("kinds", "labels", "scopes"):
            values[name] = tuple(values[name])
        return SearchRequest(**values)


@routes.post(
    "/v1/search",
    summary="Recall",
    response_model=None,
    responses={
        **answers(200, "Results in rank order, and what happened", "Answer"),
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
) -> Response:
    """Find memories and document chunks by meaning and by words, as the key may see them.

    A leg that failed is named in `meta.degraded`. `meta.truncated` says that results were left out
    because the answer would have been too large.
    """
    found = services.search(caller, body.record())
    meta = dict(found.meta)
    room = options.max_answer_bytes - len(encode(meta)) - 4096
    results = fitting(found.results, max_bytes=room)
    if len(results) < len(found.results):
        meta.update(truncated=True, nodes_returned=len(results))
    return answer({"results": results, "meta": meta})
