"""A call as data: what is sent, what comes back, and whether it may be sent again. No I/O."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from cairn_memory import models
from cairn_memory.errors import BY_CODE, BadAnswer, FieldError, Problem, ServerError

T = TypeVar("T")

FIRST_WAIT, LONGEST_WAIT = 0.25, 30.0  # seconds
REFUSED_FOR_NOW = frozenset({429, 503})
LOST_ON_THE_WAY = frozenset({502, 504})
IN_FLIGHT = "idempotency-in-flight"
SAFE = frozenset({"GET", "PUT", "DELETE"})
IDEMPOTENCY_KEY = "idempotency-key"


def part(value: object) -> str:
    """Return a value as one part of a path, whatever is in it."""
    return quote(str(value), safe="")


def present(headers: Mapping[str, str | None]) -> dict[str, str]:
    """Return the headers that have a value."""
    return {name: value for name, value in headers.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request of the API and the type of its answer.

    `keyed`: it takes an Idempotency-Key, and gets one, so that it may be repeated. `reads`: it
    changes nothing, whatever its method.
    """

    method: str
    path: str
    answer: Any
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    keyed: bool = False
    reads: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return self.reads or self.method in SAFE or IDEMPOTENCY_KEY in self.headers

    def with_key(self) -> Call[T]:
        """Return the call with an Idempotency-Key, where it takes one and has none."""
        if not self.keyed or IDEMPOTENCY_KEY in self.headers:
            return self
        return replace(self, headers={**self.headers, IDEMPOTENCY_KEY: str(uuid4())})

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Return the request; parameters that are None are left out."""
        query = {name: _text(value) for name, value in self.query.items() if value is not None}
        headers = dict(self.headers)
        content = None
        if self.body is not None:
            content = encode(self.body)
            headers["content-type"] = "application/json"
        return http.build_request(
            self.method, self.path, params=query, content=content, headers=headers
        )

    def read(self, response: httpx.Response) -> T:
        """Return the answer; Problem when it was refused, BadAnswer when it is not the API's."""
        if response.is_error:
            raise problem_of(response)
        if not response.headers.get("content-type", "").startswith("application/json"):
            return _checked(self.answer, response.text)
        try:
            return _checked(self.answer, response.json())
        except ValueError as error:
            raise BadAnswer(f"{response.url} did not answer with JSON.") from error


def encode(body: Any) -> bytes:
    """Return a body as JSON: of models only what was set."""
    if isinstance(body, BaseModel):
        return body.model_dump_json(exclude_unset=True, by_alias=True).encode()
    return json.dumps(body, allow_nan=False, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True, by_alias=True)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


@cache
def _adapter(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)


def _checked(answer: Any, value: Any) -> Any:
    try:
        return _adapter(answer).validate_python(value)
    except ValidationError as error:
        raise BadAnswer("The answer has another form than this client knows.") from error


def problem_of(response: httpx.Response) -> Problem:
    """Return the refusal that a response tells of, read already."""
    retry_after = _seconds(response.headers.get("retry-after"))
    status, request_id = response.status_code, response.headers.get("x-request-id")
    try:
        details = models.ProblemDetails.model_validate_json(response.content)
    except ValidationError:  # a proxy's page, not the API's answer
        kind = ServerError if status >= 500 else Problem
        return kind(
            f"{response.url} answered {status}.",
            code="unknown",
            reason="",
            status=status,
            request_id=request_id,
            retry_after=retry_after,
        )
    code = details.type.rpartition(":")[2]
    return BY_CODE.get(code, Problem)(
        details.detail,
        code=code,
        reason=details.reason,
        status=status,
        fields=tuple(FieldError(each.location, each.message) for each in details.errors or ()),
        request_id=details.instance or request_id,
        retry_after=retry_after,
    )


def _seconds(value: str | None) -> float | None:
    return float(value) if value and value.isdecimal() else None


def wait_before_retry(
    call: Call[Any], attempt: int, outcome: httpx.Response | httpx.HTTPError
) -> float | None:
    """Return how many seconds to wait before the call is sent again; None: it must not be.

    What was refused for now was not done, so that any call may come again; what was lost on the
    way may have been done, so that only a repeatable one may. Waits double, and half of each is
    drawn by chance, so that many clients do not come back at once.
    """
    backoff = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1)
    if isinstance(outcome, httpx.HTTPError):
        unsent = isinstance(outcome, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
        return backoff if unsent or call.repeatable else None
    if outcome.status_code in REFUSED_FOR_NOW:
        asked = _seconds(outcome.headers.get("retry-after"))
        return backoff if asked is None else min(LONGEST_WAIT, max(asked, backoff))
    if outcome.status_code in LOST_ON_THE_WAY and call.repeatable:
        return backoff
    if outcome.status_code == 409 and problem_of(outcome).reason == IN_FLIGHT:
        return backoff
    return None
