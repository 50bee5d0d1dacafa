"""How routes document their answers. Nothing here runs on a request; `openapi` is the document."""

from typing import Any, Generic, TypeVar

from pydantic import Field
from typing_extensions import TypedDict  # typing's does for pydantic from Python 3.12 on

from cairn.api.problems import KINDS, MEDIA_TYPE, ProblemDetails

Responses = dict[int | str, dict[str, Any]]

REF = "#/components/schemas/"
PLACE = "#/answers/"
"""What stands in place of the schema of an answer until it is made."""

_EVERY_CALL = ("unauthenticated", "denied", "validation-failed", "rate-limited")
_ALWAYS = ("internal", "unavailable")
_BODY = ("malformed-body", "too-large", "unsupported-media-type")
_Item = TypeVar("_Item")
TYPED: list[tuple[Any, object]] = []
"""The types of answers, each with an example, in the order their routes were read."""


class PageOf(TypedDict, Generic[_Item]):
    """One page of a list; go on with `next_cursor` until it is null."""

    items: list[_Item]
    next_cursor: str | None


class ListOf(TypedDict, Generic[_Item]):
    """A list that is always whole."""

    items: list[_Item]


def among(*values: str) -> Any:
    """Return what says of a text field which values it has."""
    return Field(json_schema_extra={"enum": list(values)})


def answers(
    status: int, what: str, kind: Any, example: object = None, *, picture: str | None = None
) -> Responses:
    """Document a good answer by its type: a record, a TypedDict, or a union of them.

    `picture` is the media type of another form of it. Nothing is made of the type before somebody
    asks for the document, and answers are not checked against it: the tests' clients do that, with
    every answer they get.
    """
    TYPED.append((kind, example))
    forms = {"application/json": {"schema": {"$ref": f"{PLACE}{len(TYPED) - 1}"}}}
    if picture is not None:
        forms[picture] = {"schema": {"type": "string"}}
    return {status: {"description": what, "content": forms}}


def problems(*codes: str, body: bool = False, public: bool = False) -> Responses:
    """Document the problems a route answers with, beside those every route has.

    `body` adds those of routes that take a body, `public` leaves out those that need a key.
    """
    every = (*_ALWAYS, "validation-failed") if public else (*_EVERY_CALL, *_ALWAYS)
    kinds = {KINDS[code].status: KINDS[code] for code in (*every, *(_BODY if body else ()), *codes)}
    return {
        status: {
            "description": f"{kind.title} (`{kind.urn}`)",
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": f"{REF}{ProblemDetails.__name__}"},
                    "example": {
                        "type": kind.urn,
                        "title": kind.title,
                        "status": status,
                        "detail": f"{kind.title}.",
                        "reason": kind.code,
                        "instance": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
                    },
                }
            },
        }
        for status, kind in sorted(kinds.items())
    }
