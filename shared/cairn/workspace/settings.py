"""Every setting of a workspace: its type, its bounds and its default. Pure.

A new setting is a field of a section here and a row of docs/use/settings.md; a test holds both to
each other and sets each over HTTP. What is stored is the document of what was set, nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
)
from pydantic_core import PydanticCustomError

from cairn.graph.edge import Relation
from cairn.graph.intent_weights import Intent, IntentWeights, intent_weights
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.zones import zone_of
from cairn.llm.configuration import (
    HOTTEST,
    LEAST_WINDOW,
    MOST_TOKENS,
    MOST_WINDOW,
    configured,
)
from cairn.llm.port import Effort, Purpose
from cairn.safety.profiles import DEFAULT_PROFILE, PROFILES

MOST_SHOWN = 50
"""The largest bound of what a planner is shown."""
MOST_RATES = 100
MOST_BYTES = 2**50
MOST_AMOUNT = 1_000_000_000_000

RECIPE_NAMES = ("default", "seed-000", "seed-001", "knowledge", "memory")
LEG_NAMES = ("keyword", "vector", "graph", "subscriptions")
PATTERN_NAMES = ("recurring_pattern", "entity_context", "retrieval_history")
SIGNAL_NAMES = (
    "speaker",
    "time",
    "time_words",
    "length",
    "question",
    "parent",
    "specifics",
    "words",
    "late",
    "whole",
    "answers",
    "next",
)
STAGE_NAMES = (
    *LEG_NAMES,
    "gate",
    "expansion",
    "route",
    "facets",
    "decomposition",
    "relevance",
    "dedup",
    "one_text",
    "present_first",
    "second_pass",
    "cache",
    "decay",
    "access",
    "compiled_truth",
    "backlinks",
    "rerank",
    "threshold",
    "expand_hops",
    "proactive",
    "rrf",
    "signals",
    *SIGNAL_NAMES,
)
"""Names that `retrieval` gives; a test holds them to its recipes, legs and stages."""


class Section(BaseModel):
    """Base of the sections: no unknown fields, no coercion, no NaN."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        defer_build=True,  # a cold start that reads no settings builds none
    )


def _amount(value: object) -> Decimal:
    """Return a number, or a number in a string, as a decimal."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise PydanticCustomError("amount", "Input should be a number")
    try:
        return Decimal(str(value)[:64])
    except InvalidOperation:
        raise PydanticCustomError("amount", "Input should be a number") from None


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _chat(value: str) -> str:
    try:
        configured(value)
    except ValidationFailed as refused:
        raise PydanticCustomError("chat", "{wrong}", {"wrong": refused.detail}) from None
    return value


def _one_of(names: Collection[str]) -> AfterValidator:
    """Return a validator of a name."""

    def check(value: str) -> str:
        if value not in names:
            fields = {"names": ", ".join(names)}
            raise PydanticCustomError("name", "is not one of {names}", fields)
        return value

    return AfterValidator(check)


Weight = Annotated[float, Field(ge=0, le=10)]
Matrix = Mapping[
    Annotated[str, _one_of(tuple(Intent))],
    Mapping[Annotated[str, _one_of(tuple(Relation))], Weight],
]


def _laid(value: Matrix) -> Matrix:
    try:
        intent_weights(value)
    except ValidationFailed as refused:
        raise PydanticCustomError("weights", "{wrong}", {"wrong": refused.detail}) from None
    return value


Amount = Annotated[
    Decimal,
    Field(ge=0, le=MOST_AMOUNT),
    BeforeValidator(_amount),
    PlainSerializer(_number),
]
Shown = Annotated[int, Field(ge=0, le=MOST_SHOWN)]
ModelName = Annotated[str, Field(pattern=r"^[!-~]{1,200}$")]


Share = Annotated[float, Field(ge=0, le=1)]
Constant = Annotated[float, Field(ge=-100, le=100)]


class CalibrationSettings(Section):
    """The constants of relevance for one embedder, as `cairn bench calibrate` fits them."""

    model: ModelName
    intercept: Constant
    cosine: Constant
    words: Constant
    size: Constant
    answerable: Share
    least: Share
    late: Constant = 0.0


class RecallSettings(Section):
    """How a workspace's searches are made. `recipe` None is the deployment's `default`.

    `min_relevance` None is what the embedder's constants say; `calibration` is for an embedder
    that has none, or others.

    `client_required` refuses searches and lists about every client at once, and
    `public_subscriptions` lets public keys use the subscription leg where it is switched on.
    """

    recipe: Annotated[str, _one_of(RECIPE_NAMES)] | None = None
    stages: Mapping[Annotated[str, _one_of(STAGE_NAMES)], bool] = {}
    weights: Mapping[Annotated[str, _one_of(LEG_NAMES)], Weight] = {}
    intent_weights: Annotated[Matrix, AfterValidator(_laid)] = {}
    public_subscriptions: bool = False
    client_required: bool = False
    proactive_signals: Mapping[Annotated[str, _one_of(PATTERN_NAMES)], bool] = {}
    decay_factor: Annotated[float, Field(gt=0, le=1)] = 0.98
    rrf_k: Annotated[int, Field(ge=1, le=10_000)] = 60
    graph_search_decay: Annotated[float, Field(gt=0, le=1)] = 0.8
    causal_boost: Annotated[float, Field(ge=1, le=10)] = 2.0
    max_depth: Annotated[int, Field(ge=1, le=10)] = 2
    min_relevance: Share | None = None
    calibration: CalibrationSettings | None = None

    @cached_property
    def matrix(self) -> IntentWeights | None:
        """Return the intent weights over the published ones; None where none are set."""
        return intent_weights(self.intent_weights) if self.intent_weights else None


class BudgetSettings(Section):
    """What models may cost a workspace in a day (UTC) and in a run. None: as the deployment."""

    day_usd: Amount | None = None
    day_tokens: Amount | None = None
    run_usd: Amount | None = None
    run_tokens: Amount | None = None


class RateSettings(Section):
    """US dollars a million tokens of one model."""

    input: Amount
    output: Amount
    cache_read: Amount | None = None
    cache_write: Amount | None = None


class OptionSettings(Section):
    """What requests of a purpose leave open."""

    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = None
    temperature: Annotated[float, Field(ge=0, le=HOTTEST)] | None = None
    effort: Annotated[Effort, Field(strict=False)] | None = None
    window: Annotated[int, Field(ge=LEAST_WINDOW, le=MOST_WINDOW)] | None = None


class ModelSettings(Section):
    """Which chat models answer, for how much. `chat` is written as CAIRN_CHAT_MODEL."""

    chat: Annotated[str, Field(max_length=2_000), AfterValidator(_chat)] = ""
    budgets: BudgetSettings = Field(default_factory=BudgetSettings)
    rates: Annotated[Mapping[ModelName, RateSettings], Field(max_length=MOST_RATES)] = {}
    options: Mapping[Annotated[str, _one_of(tuple(Purpose))], OptionSettings] = {}


class EnvelopeSettings(Section):
    """How much of each a planner is shown; `results` is of steps shown whole, the latest.

    `connector_recent_results` are of reads by other investigations, so old at the most.
    """

    chunks: Shown = 6
    facts: Shown = 10
    similar: Shown = 3
    connector_recent_results: Shown = 3
    connector_recent_seconds: Annotated[int, Field(ge=0, le=86_400)] = 60
    results: Shown = 8
    tools: Shown = MOST_SHOWN


class SafetySettings(Section):
    """Which personal values no model sees."""

    redaction: Annotated[str, _one_of(tuple(PROFILES))] = DEFAULT_PROFILE


class ConversationSettings(Section):
    """What becomes of what is said. `infer` False: no memories are drawn from messages."""

    infer: bool = True


def _zone(value: str) -> str:
    if zone_of(value) is None:
        raise PydanticCustomError("zone", "is an IANA time zone such as Europe/Berlin")
    return value


class BriefingSettings(Section):
    """When the daily briefing is written, by the clocks of a time zone."""

    at: Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "07:00"
    timezone: Annotated[str, Field(max_length=64), AfterValidator(_zone)] = "UTC"


class WorkflowSettings(Section):
    """What runs by itself. `briefing` None: there is no daily briefing."""

    briefing: BriefingSettings | None = None


class CheckpointSettings(Section):
    """How much room checkpoints of programs have. `expire_after_days` None: they stay."""

    max_thread_bytes: Annotated[int, Field(ge=1, le=MOST_BYTES)] = 256 * 2**20
    max_bytes: Annotated[int, Field(ge=1, le=MOST_BYTES)] = 4 * 2**30
    expire_after_days: Annotated[int, Field(ge=1, le=3_650)] | None = None


class WorkspaceSettings(Section):
    """All of them."""

    recall: RecallSettings = Field(default_factory=RecallSettings)
    models: ModelSettings = Field(default_factory=ModelSettings)
    envelope: EnvelopeSettings = Field(default_factory=EnvelopeSettings)
    safety: SafetySettings = Field(default_factory=SafetySettings)
    conversations: ConversationSettings = Field(default_factory=ConversationSettings)
    workflows: WorkflowSettings = Field(default_factory=WorkflowSettings)
    checkpoints: CheckpointSettings = Field(default_factory=CheckpointSettings)
