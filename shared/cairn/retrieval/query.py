"""What may be asked of recall, and what may not. Not the HTTP form of it."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cairn.access import Principal, Scope
from cairn.errors import FieldError, ValidationFailed
from cairn.memory.kinds import MemoryKind
from cairn.retrieval.recipes import RECIPES
from cairn.retrieval.records import Filters
from cairn.text.checks import clean_text

MAX_QUERY_CHARS = 4000
MAX_RESULTS = 100
MAX_NEIGHBOURS = 5
MAX_LABELS = 20

_LABEL = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
_KINDS = frozenset(MemoryKind)


class Format(StrEnum):
    """How much of a result is shown."""

    FULL = "full"
    COMPACT = "compact"  # no context, no attributes; scores to 4 decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A question and how to answer it.

    Empty tuples and None mean any. `as_of` is a moment or a ledger position: what was known then.
    `valid_at` is a moment in the world: what held then. `recipe` None takes the default.
    """

    query: str
    limit: int = 10
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    client_id: str | None = None
    scopes: tuple[Scope, ...] = ()
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    valid_at: datetime | None = None
    as_of: datetime | int | None = None
    include_superseded: bool = False
    neighbours: int = 1
    format: str = Format.FULL
    recipe: str | None = None


def check(request: SearchRequest, principal: Principal) -> None:
    """Raise ValidationFailed with every fault of the request, Denied for a scope not granted."""
    clean_text(request.query, field="query", max_chars=MAX_QUERY_CHARS)
    errors = [*_faults_of_numbers(request), *_faults_of_names(request), *_faults_of_times(request)]
    if errors:
        first = errors[0]
        raise ValidationFailed(f"{first.location} {first.message}.", errors=errors)
    for scope in request.scopes:
        principal.require_scope(scope)


def filters_of(request: SearchRequest, *, as_of_position: int | None) -> Filters:
    """Return what the legs and the reader filter by, `as_of` resolved to a position."""
    return Filters(
        kinds=request.kinds,
        labels=request.labels,
        client_id=request.client_id,
        scopes=request.scopes,
        occurred_from=request.occurred_from,
        occurred_to=request.occurred_to,
        valid_at=request.valid_at,
        as_of_position=as_of_position,
        include_superseded=request.include_superseded,
    )


def _faults_of_numbers(request: SearchRequest) -> list[FieldError]:
    errors: list[FieldError] = []
    if not 1 <= request.limit <= MAX_RESULTS:
        errors.append(FieldError("limit", f"must be from 1 to {MAX_RESULTS}"))
    if not 0 <= request.neighbours <= MAX_NEIGHBOURS:
        errors.append(FieldError("neighbours", f"must be from 0 to {MAX_NEIGHBOURS}"))
    if isinstance(request.as_of, int) and not 0 <= request.as_of < 2**53:
        errors.append(FieldError("as_of", "is not a ledger position"))
    return errors


def _faults_of_names(request: SearchRequest) -> list[FieldError]:
    errors = [
        FieldError(f"kinds.{number}", f"is not one of {', '.join(MemoryKind)}")
        for number, kind in enumerate(request.kinds)
        if kind not in _KINDS
    ]
    errors += [
        FieldError(f"labels.{number}", "must be a capitalised word of letters and digits")
        for number, label in enumerate(request.labels)
        if not _LABEL.fullmatch(label)
    ]
    if len(request.labels) > MAX_LABELS:
        errors.append(FieldError("labels", f"must be at most {MAX_LABELS}"))
    if request.format not in frozenset(Format):
        errors.append(FieldError("format", f"is not one of {', '.join(Format)}"))
    if request.recipe is not None and request.recipe not in RECIPES:
        errors.append(FieldError("recipe", f"is not one of {', '.join(sorted(RECIPES))}"))
    return errors


def _faults_of_times(request: SearchRequest) -> list[FieldError]:
    times = {
        "occurred_from": request.occurred_from,
        "occurred_to": request.occurred_to,
        "valid_at": request.valid_at,
        "as_of": request.as_of,
    }
    errors = [
        FieldError(name, "must say its time zone")
        for name, value in times.items()
        if isinstance(value, datetime) and value.tzinfo is None
    ]
    begin, end = request.occurred_from, request.occurred_to
    if not errors and begin and end and end < begin:
        errors.append(FieldError("occurred_to", "is before occurred_from"))
    return errors
