"""The one table from errors to HTTP statuses and state machine error names, and problem+json.

Not where errors are raised: use cases raise them, this module decides how they look outside. An
answer never repeats what the caller sent: texts, keys and names stay out of it.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from typing_extensions import TypedDict

from cairn.kernel.errors import (
    BudgetExceeded,
    CairnError,
    Conflict,
    Denied,
    FieldError,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
)

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:cairn:error:"
TOO_LARGE = "too_large"
"""The pydantic error type that becomes 413 when nothing else is wrong."""

_MAX_ERRORS = 20
_SAFE_STEP = re.compile(r"[A-Za-z0-9_\-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One documented kind of failure.

    `error` is the exception that means it, None for failures only HTTP knows. `asl_error` is the
    name a state machine sees, which is the exception's class name.
    """

    code: str
    status: int
    title: str
    error: type[CairnError] | None = None

    @property
    def asl_error(self) -> str | None:
        """Return the error name state machines match, None for kinds they never see."""
        return self.error.__name__ if self.error else None

    @property
    def urn(self) -> str:
        """Return the problem's `type`."""
        return TYPE_PREFIX + self.code


_KINDS = (
    Kind(code="malformed-body", status=400, title="The body is not valid JSON"),
    Kind(
        code="unauthenticated",
        status=401,
        title="The API key is missing or not valid",
        error=Unauthenticated,
    ),
    Kind(code="budget-exceeded", status=402, title="A budget is spent", error=BudgetExceeded),
    Kind(code="denied", status=403, title="Not allowed with this key", error=Denied),
    Kind(code="not-found", status=404, title="Nothing is there", error=NotFound),
    Kind(code="method-not-allowed", status=405, title="This path has no such method"),
    Kind(
        code="conflict",
        status=409,
        title="The request collides with the present state",
        error=Conflict,
    ),
    Kind(code="too-large", status=413, title="The input is above a limit", error=TooLarge),
    Kind(code="unsupported-media-type", status=415, title="This content type is not accepted"),
    Kind(
        code="validation-failed",
        status=422,
        title="The input is not valid",
        error=ValidationFailed,
    ),
    Kind(code="rate-limited", status=429, title="Too many requests", error=RateLimited),
    Kind(code="internal", status=500, title="Something went wrong on our side", error=CairnError),
    Kind(code="not-streamable", status=501, title="Nothing can be streamed here"),
    Kind(
        code="unavailable",
        status=503,
        title="A dependency did not answer; try again",
        error=Unavailable,
    ),
)
KINDS: Mapping[str, Kind] = {kind.code: kind for kind in _KINDS}
_BY_STATUS: Mapping[int, Kind] = {kind.status: kind for kind in _KINDS}
_BY_ERROR: Mapping[type[CairnError], Kind] = {kind.error: kind for kind in _KINDS if kind.error}


class Refused(HTTPException):
    """A failure only the HTTP edge knows, such as a body that is not JSON.

    It is an HTTPException because the framework passes those through its own body parsing.
    """

    def __init__(self, code: str, detail: str, *, reason: str | None = None) -> None:
        super().__init__(status_code=KINDS[code].status, detail=detail)
        self.kind = KINDS[code]
        self.reason = reason or code


class FieldProblem(TypedDict):
    """What is wrong with one field."""

    location: str
    message: str


class ProblemDetails(TypedDict):
    """RFC 9457 problem details. `type` is stable; `reason` says more about it."""

    type: Annotated[str, Field(json_schema_extra={"enum": [kind.urn for kind in _KINDS]})]
    title: str
    status: int
    detail: str
    reason: str
    instance: NotRequired[str]
    errors: NotRequired[list[FieldProblem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An RFC 9457 problem, ready to be written. `retry_after` is in seconds."""

    kind: Kind
    detail: str
    reason: str
    errors: tuple[FieldError, ...] = ()
    retry_after: float | None = None

    def content(self, instance: str | None) -> ProblemDetails:
        """Return the JSON object; `instance` is the request id, None inside a batch result."""
        content: ProblemDetails = {
            "type": self.kind.urn,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "reason": self.reason,
        }
        if instance is not None:
            content["instance"] = instance
        if self.errors:
            content["errors"] = [
                {"location": each.location, "message": each.message}
                for each in self.errors[:_MAX_ERRORS]
            ]
        return content

    def headers(self) -> dict[str, str]:
        """Return the headers that go with it."""
        headers: dict[str, str] = {}
        if self.retry_after is not None:
            headers["retry-after"] = str(max(1, math.ceil(self.retry_after)))
        if self.kind.status == 401:
            headers["www-authenticate"] = 'Bearer realm="cairn"'
        return headers


def kind_of(error: CairnError) -> Kind:
    """Return the kind of an error, the nearest ancestor's when its own class has none."""
    return next(_BY_ERROR[cls] for cls in type(error).__mro__ if cls in _BY_ERROR)


def from_error(error: CairnError) -> Problem:
    """Return the problem of an error raised on purpose."""
    errors = error.errors if isinstance(error, ValidationFailed) else ()
    waits = isinstance(error, RateLimited | Unavailable)
    return Problem(
        kind=kind_of(error),
        detail=error.detail,
        reason=error.reason,
        errors=errors,
        retry_after=error.retry_after if waits else None,
    )


def from_http(error: HTTPException) -> Problem:
    """Return the problem of an error the framework's router or our body checks raised."""
    if isinstance(error, Refused):
        return Problem(kind=error.kind, detail=error.detail, reason=error.reason)
    if error.status_code == 404:
        return Problem(kind=KINDS["not-found"], detail="There is no such path.", reason="route")
    kind = _BY_STATUS.get(error.status_code)
    if kind is None:
        kind = KINDS["internal"] if error.status_code >= 500 else KINDS["validation-failed"]
    return Problem(kind=kind, detail=f"{kind.title}.", reason=kind.code)


def from_validation(errors: Iterable[Any]) -> Problem:
    """Return the problem of pydantic's error list, without the input it complains about."""
    raw = list(errors)
    listed = field_errors(raw)
    too_large = bool(raw) and all(each["type"] == TOO_LARGE for each in raw)
    first = f"{listed[0].location}: {listed[0].message}" if listed else "The input is not valid"
    more = f" ({len(listed) - 1} more)" if len(listed) > 1 else ""
    return Problem(
        kind=KINDS["too-large" if too_large else "validation-failed"],
        detail=f"{first.rstrip('.')}.{more}",
        reason="fields",
        errors=tuple(listed),
    )


def unexpected() -> Problem:
    """Return the problem of a bug: it says nothing about the inside."""
    return Problem(
        kind=KINDS["internal"],
        detail="Something went wrong on our side. The log has it under this request id.",
        reason="internal",
    )


def field_errors(errors: Iterable[Any]) -> list[FieldError]:
    """Map pydantic's errors to ours; locations are cut to plain names, inputs are left out."""
    return [
        FieldError(_location(cast("Mapping[str, Any]", each)), _message(each)) for each in errors
    ]


def _location(error: Mapping[str, Any]) -> str:
    inside = str(error.get("ctx", {}).get("path", ""))
    steps = [*cast("Sequence[object]", error.get("loc", ())), *inside.split(".")]
    visible = [step for step in map(str, steps) if step and not step.startswith(_UNION_TAG)]
    safe = [step if _SAFE_STEP.fullmatch(step) else "?" for step in visible]
    return ".".join(safe) or "body"


_UNION_TAG = "as-"
_MESSAGES = {
    "extra_forbidden": "There is no such field",
    "uuid_parsing": "Expected a UUID",
    "missing": "This field is required",
    "json_invalid": "The body is not valid JSON",
    "model_attributes_type": "Expected a JSON object (with content type application/json)",
    "model_type": "Expected a JSON object",
    "string_unicode": "Contains characters that are not valid Unicode text",
}


def _message(error: Mapping[str, Any]) -> str:
    text = _MESSAGES.get(str(error.get("type"))) or str(error.get("msg", "Not valid"))
    return text.removeprefix("Value error, ")


def problem_response(problem: Problem, request_id: str | None) -> Response:
    """Write a problem."""
    body = json.dumps(problem.content(request_id), ensure_ascii=False)
    return Response(
        content=body.encode("utf-8", errors="replace"),
        status_code=problem.kind.status,
        media_type=MEDIA_TYPE,
        headers=problem.headers(),
    )
