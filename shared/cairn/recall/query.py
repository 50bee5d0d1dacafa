"""What may be asked of recall, and one search on its way. Not the HTTP form of a request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.graph.conditions import MAX_CONDITIONS, Condition, fault_of, json_path
from cairn.graph.intent_weights import Intent
from cairn.graph.node import Label
from cairn.kernel.access import Principal, Scope
from cairn.kernel.clock import Stopwatch
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.spans import passed
from cairn.kernel.text.checks import clean_text
from cairn.memories.kinds import MemoryKind
from cairn.recall.questions.facets import WHOLE, Parts, WantedSet
from cairn.recall.questions.gate import Turn
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.questions.read import ParsedQuestion
from cairn.recall.questions.understanding import question_names
from cairn.recall.recipes import GRAPH, RECIPES, Recipe, looked_up
from cairn.recall.records import Filters
from cairn.recall.switches import faults_of_stages
from cairn.recall.walks.graph_ports import Method
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from cairn.recall.relevance import Calibration
    from cairn.workspace.settings import RecallSettings

MAX_QUERY_CHARS = 4000
MAX_RESULTS = 100
MAX_NEIGHBOURS = 5
MAX_LABELS = 20
MAX_FIELDS = 50
MAX_HISTORY = 20
MAX_TURN_CHARS = 4000
MAX_HOPS = 1
MAX_CLIENTS = 5
CHAR_BUDGET = 80_000
LEAST_CHARS, MOST_CHARS = 1_000, 1_000_000

_LABEL = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
_KINDS = frozenset(MemoryKind)


class Format(StrEnum):
    """How much of a result is shown."""

    FULL = "full"
    COMPACT = "compact"  # no context, no attributes; scores to 4 decimals
    TEXT = "text"  # one text for an agent to read, instead of results


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A question and how to answer it.

    Empty tuples and None mean any, and None takes the recipe's value. `as_of` is a moment or a
    ledger position: what was known then. `valid_at` is a moment in the world: what held then.
    `recipe` None takes the workspace's, else the default; `stages` switches stages on or off.
    `method` is how the graph leg ranks, and switches that leg on. `clients` are several of whom a
    result must be of one; the HTTP form has only `client_id`.
    `min_relevance` is what a result must reach instead of what the embedder's constants say, and
    switches relevance on; 0 leaves nothing out.
    `history` is what was said before, oldest first, for the gate, and `session_id` names the
    conversation, for what its earlier searches found. `intent` overrides what would
    be inferred. `fields` narrows the properties shown, and `max_chars` is the size of the answer
    above which related nodes are left out first. `namespace` is one exactly, `namespace_prefix` one
    and all below it; all of `where` must hold of a memory's metadata. What is known of
    the client `personalize_for` moves results up.
    """

    query: str
    limit: int | None = None
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    client_id: str | None = None
    clients: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    valid_at: datetime | None = None
    as_of: datetime | int | None = None
    include_superseded: bool = False
    neighbours: int = 1
    format: str = Format.FULL
    recipe: str | None = None
    method: str | None = None
    stages: Mapping[str, bool] = field(default_factory=dict[str, bool])
    intent: str | None = None
    history: tuple[Turn, ...] = ()
    session_id: str | None = None
    gate: bool | None = None
    expand_hops: int | None = None
    min_relevance: float | None = None
    fields: tuple[str, ...] | None = None
    max_chars: int = CHAR_BUDGET
    namespace: str | None = None
    namespace_prefix: str | None = None
    where: tuple[Condition, ...] = ()
    personalize_for: str | None = None


def check(request: SearchRequest, principal: Principal) -> None:
    """Raise ValidationFailed with every fault of the request, Denied for a scope not granted."""
    clean_text(request.query, field="query", max_chars=MAX_QUERY_CHARS)
    errors = [
        *_faults_of_numbers(request),
        *_faults_of_names(request),
        *_faults_of_times(request),
        *_faults_of_choices(request),
    ]
    if errors:
        first = errors[0]
        raise ValidationFailed(f"{first.location} {first.message}.", errors=errors)
    for scope in request.scopes:
        principal.require_scope(scope)


def filters_of(
    request: SearchRequest,
    recipe: Recipe,
    *,
    as_of_position: int | None,
    language: str | None = None,
) -> Filters:
    """Return what the legs and the reader filter by, `as_of` resolved to a position.

    Labels a request names go before those of the recipe.
    """
    return Filters(
        kinds=request.kinds,
        labels=request.labels or recipe.labels,
        client_id=request.client_id,
        scopes=request.scopes,
        occurred_from=request.occurred_from,
        occurred_to=request.occurred_to,
        valid_at=request.valid_at,
        as_of_position=as_of_position,
        include_superseded=request.include_superseded,
        language=language,
        namespace=request.namespace,
        namespace_prefix=request.namespace_prefix,
        matching=json_path(request.where),
    )


def _faults_of_numbers(request: SearchRequest) -> list[FieldError]:
    errors: list[FieldError] = []
    if request.limit is not None and not 1 <= request.limit <= MAX_RESULTS:
        errors.append(FieldError("limit", f"must be from 1 to {MAX_RESULTS}"))
    if not 0 <= request.neighbours <= MAX_NEIGHBOURS:
        errors.append(FieldError("neighbours", f"must be from 0 to {MAX_NEIGHBOURS}"))
    if isinstance(request.as_of, int) and not 0 <= request.as_of < 2**53:
        errors.append(FieldError("as_of", "is not a ledger position"))
    if len(request.clients) > MAX_CLIENTS or (request.clients and request.client_id):
        errors.append(FieldError("clients", f"must be at most {MAX_CLIENTS}, without client_id"))
    if request.expand_hops is not None and not 0 <= request.expand_hops <= MAX_HOPS:
        errors.append(FieldError("expand_hops", f"must be 0 or {MAX_HOPS}"))
    if request.min_relevance is not None and not 0 <= request.min_relevance <= 1:
        errors.append(FieldError("min_relevance", "must be from 0 to 1"))
    if not LEAST_CHARS <= request.max_chars <= MOST_CHARS:
        errors.append(FieldError("max_chars", f"must be from {LEAST_CHARS} to {MOST_CHARS}"))
    return errors


def _faults_of_choices(request: SearchRequest) -> list[FieldError]:
    errors = faults_of_stages(request.stages)
    if request.intent is not None and request.intent not in frozenset(Intent):
        errors.append(FieldError("intent", f"is not one of {', '.join(Intent)}"))
    if request.method is not None and request.method not in frozenset(Method):
        errors.append(FieldError("method", f"is not one of {', '.join(Method)}"))
    if request.min_relevance is not None and request.stages.get("relevance") is False:
        errors.append(FieldError("min_relevance", "needs `relevance`, which `stages` switches off"))
    if request.method is not None and request.stages.get(GRAPH) is False:
        errors.append(FieldError("method", "needs the graph leg, which `stages` switches off"))
    if len(request.where) > MAX_CONDITIONS:
        errors.append(FieldError("where", f"must be at most {MAX_CONDITIONS}"))
    errors += [
        FieldError(f"where.{number}", wrong)
        for number, each in enumerate(request.where)
        if (wrong := fault_of(each))
    ]
    if request.fields is not None and len(request.fields) > MAX_FIELDS:
        errors.append(FieldError("fields", f"must be at most {MAX_FIELDS}"))
    if len(request.history) > MAX_HISTORY:
        errors.append(FieldError("history", f"must be at most {MAX_HISTORY} turns"))
    for number, turn in enumerate(request.history):
        if len(turn.text) > MAX_TURN_CHARS:
            errors.append(
                FieldError(f"history.{number}.text", f"may have {MAX_TURN_CHARS} characters")
            )
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
    if request.personalize_for == GLOBAL_CLIENT:
        errors.append(FieldError("personalize_for", "names a client, whom the search is for"))
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


@dataclass(frozen=True, kw_only=True)
class Search:
    """One search. `recipe` is as workspace, request and route left it.

    `at` is the moment the search answers for: now, or the moment of `as_of`. `wordings` are the
    question and its paraphrases, `parts` its facets, and `wanted` the set it asks about.
    `calibration` is what relevance is told by. `ignored` names settings of the workspace that are
    not valid.
    """

    id: UUID
    principal: Principal
    request: SearchRequest
    recipe: Recipe
    filters: Filters
    asked: ParsedQuestion
    at: datetime
    started_at: datetime
    calls: ModelCalls
    workspace: "RecallSettings"
    wordings: tuple[str, ...] = ()
    parts: Parts = WHOLE
    wanted: WantedSet | None = None
    calibration: "Calibration | None" = None
    ignored: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """Return how many results are wanted: the request's number, else the recipe's."""
        return self.request.limit or self.recipe.limit

    @property
    def hops(self) -> int:
        """Return how far results are expanded: the request's number, else the recipe's."""
        hops = self.request.expand_hops
        return self.recipe.expand_hops if hops is None else hops

    @property
    def min_relevance(self) -> float | None:
        """Return what a result must reach, as the request, else the workspace says."""
        floor = self.request.min_relevance
        return self.workspace.min_relevance if floor is None else floor

    @property
    def asks_for_a_time(self) -> bool:
        """Return whether another time than now is asked for, by a parameter or in the question."""
        request, understanding = self.request, self.asked.understanding
        times = (request.as_of, request.valid_at, request.occurred_from, request.occurred_to)
        names_a_time = understanding.hint is not None or understanding.asks_when_it_was
        return names_a_time or any(each is not None for each in times)

    @property
    def looked_up(self) -> bool:
        """Return whether anything is searched for: not when the gate or the route says so."""
        return self.asked.verdict.search and looked_up(self.recipe, self.asked.retrieval_class)

    @property
    def method(self) -> Method | None:
        """Return how the graph leg ranks: as the request, else the recipe says; None by intents."""
        return Method(self.request.method) if self.request.method else self.recipe.method

    @property
    def ranges(self) -> tuple[Filters, ...]:
        """Return what each leg is asked for, one after the other: `filters`, for each client.

        With memories of some kinds besides, when the recipe says so.
        """
        clients = self.request.clients or (self.filters.client_id,)
        ranges = tuple(replace(self.filters, client_id=client) for client in clients)
        kinds = self.recipe.with_kinds
        if not kinds:
            return ranges
        return (*ranges, *(replace(item, labels=(Label.MEMORY,), kinds=kinds) for item in ranges))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return what the question may call entities by."""
        return question_names(self.asked.question)

    @property
    def intents(self) -> Mapping[str, float]:
        """Return the intents by name, the surest first."""
        return {intent.value: sure for intent, sure in self.asked.intents.confidence.items()}


class Stages:
    """Milliseconds by stage, in order."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._start = self._last = stopwatch()
        self.ms: dict[str, float] = {}

    def end(self, stage: str) -> None:
        """Say that a stage ended now, and the next begins."""
        now = self._stopwatch()
        self.ms[stage] = (now - self._last) * 1000
        passed(f"recall {stage}", now - self._last)
        self._last = now

    def total(self) -> float:
        """Return milliseconds from the start to the last stage's end."""
        return (self._last - self._start) * 1000
