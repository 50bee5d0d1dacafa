"""Chat models for whatever asks them: the providers the settings name, behind one gateway.

Not recall's stages, which ask through it too. With nothing configured no client is imported.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, Protocol

from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from pydantic import SecretStr

    from cairn.adapters.postgres.database import Database
    from cairn.consolidation.plan import Planner
    from cairn.consolidation.run import Planners, ProposePlan
    from cairn.embedding.port import Embedder
    from cairn.llm.budget import Terms
    from cairn.llm.gateway import Gateway
    from cairn.llm.wire import WireChat
    from cairn.writing.platform import Platform

PREVIEW_ANSWER_SECONDS = 25.0
"""How long a dry run of a consolidation waits for one answer: less than its request may take."""


class ModelSettings(Protocol):
    """Which chat models may be asked, and for how much."""

    @property
    def stage(self) -> Literal["local", "prod"]: ...
    @property
    def anthropic_api_key(self) -> SecretStr | None: ...
    @property
    def anthropic_base_url(self) -> str | None: ...
    @property
    def bedrock_api_key(self) -> SecretStr | None: ...
    @property
    def bedrock_base_url(self) -> str | None: ...
    @property
    def openai_api_key(self) -> SecretStr | None: ...
    @property
    def openai_base_url(self) -> str | None: ...
    @property
    def embedder(self) -> str: ...
    @property
    def chat_model(self) -> str: ...
    @property
    def model_budgets(self) -> str: ...


def silent(event: str, fields: dict[str, Any]) -> None:
    """Tell nobody."""


def gateway(
    settings: ModelSettings,
    opened: Database,
    *,
    report: Callable[[str, dict[str, Any]], None] = silent,
) -> Gateway | None:
    """Return the gateway to the configured providers, None when there are none.

    Nothing connects, and no client is imported before the first request. Raises
    ValidationFailed when CAIRN_CHAT_MODEL or CAIRN_MODEL_BUDGETS cannot be read.
    """
    models = chat_models(settings)
    return over(models, settings, opened, report=report) if models else None


def over(
    models: Sequence[WireChat[Any]],
    settings: ModelSettings,
    opened: Database,
    *,
    report: Callable[[str, dict[str, Any]], None] = silent,
) -> Gateway:
    """Return the gateway over these providers."""
    from cairn.adapters.postgres.agents.model_calls import PostgresCallLog
    from cairn.bootstrap.parts import metrics
    from cairn.llm.costs import MeasuredCalls
    from cairn.llm.gateway import Gateway, Surroundings

    return Gateway(
        models,
        Surroundings(
            terms=_terms(settings, opened, report),
            calls=MeasuredCalls(PostgresCallLog(opened), metrics(settings.stage)),
            clock=utc_now,
            stopwatch=monotonic,
            pause=time.sleep,
            new_id=new_id,
            report=report,
        ),
    )


def planners(gateway: Gateway, *, seconds: float | None = None) -> Callable[[UUID, UUID], Planner]:
    """Return (workspace id, run id) -> who plans by a model, on that run's account.

    An answer is waited for `seconds`, with everything that is tried; five minutes unless told so.
    """
    from cairn.consolidation.model_planner import SECONDS, ModelPlanner
    from cairn.llm.costs import Call

    def planner(workspace_id: UUID, run_id: UUID) -> Planner:
        call = Call(workspace_id=workspace_id, run_id=run_id, seconds=seconds or SECONDS)
        return ModelPlanner(gateway=gateway, call=call)

    return planner


def propose_plan(
    platform: Platform, model: Embedder, models: Gateway | None, *, seconds: float | None = None
) -> ProposePlan:
    """Return what plans batches and changes nothing."""
    from cairn.consolidation.batching import FindMerges, Gather
    from cairn.consolidation.heuristic import HeuristicPlanner
    from cairn.consolidation.run import ProposePlan

    transactions = platform.transactions
    rules = HeuristicPlanner()
    choose: Planners = (
        planners(models, seconds=seconds) if models else lambda workspace_id, run_id: rules
    )
    return ProposePlan(
        gather=Gather(transactions=transactions, model_id=model.model.id),
        planners=choose,
        rules=rules,
        merges=FindMerges(transactions=transactions, embedder=model),
    )


def chat_models(settings: ModelSettings) -> list[WireChat[Any]]:
    """Return the configured providers; none means that rules answer everything.

    Anthropic takes a key, or a base URL that asks for none. OpenAI takes the same when
    CAIRN_CHAT_MODEL names a model of it; without that its key, unless the key is there for
    embeddings, which say nothing about chat. Bedrock is asked when CAIRN_CHAT_MODEL names a model
    of it: on AWS it needs no key.
    """
    wires: list[WireChat[Any]] = []
    if settings.anthropic_api_key or settings.anthropic_base_url:
        from cairn.llm import anthropic_chat

        wires.append(
            anthropic_chat.AnthropicChat(
                api_key=_secret(settings.anthropic_api_key),
                base_url=settings.anthropic_base_url,
            )
        )
    if _openai_chats(settings):
        from cairn.llm import openai_chat

        wires.append(
            openai_chat.OpenAIChat(
                api_key=_secret(settings.openai_api_key),
                base_url=settings.openai_base_url,
            )
        )
    if "bedrock:" in settings.chat_model:
        from cairn.adapters.aws import bedrock_chat

        wires.append(
            bedrock_chat.BedrockChat(
                api_key=_secret(settings.bedrock_api_key),
                base_url=settings.bedrock_base_url,
            )
        )
    return wires


def _terms(
    settings: ModelSettings,
    opened: Database,
    report: Callable[[str, dict[str, Any]], None],
) -> Callable[[UUID], Terms]:
    """Return workspace -> its terms; the settings behind them are half a second old at most."""
    from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings
    from cairn.kernel.access.system import system_principal
    from cairn.llm.budget import Terms, allowance_of, terms_for
    from cairn.llm.configuration import configured

    base = Terms(
        configuration=configured(settings.chat_model),
        allowance=allowance_of(settings.model_budgets),
    )
    stored = PostgresWorkspaceSettings(opened, monotonic)
    reported: dict[UUID, Mapping[str, Any]] = {}

    def terms(workspace_id: UUID) -> Terms:
        document = stored(system_principal(workspace_id)).document
        result, ignored = terms_for(base, document)
        if ignored and reported.get(workspace_id) != document:
            reported[workspace_id] = document
            report(
                "llm.settings_ignored",
                {"workspace_id": str(workspace_id), "names": list(ignored)},
            )
        return result

    return terms


def _openai_chats(settings: ModelSettings) -> bool:
    if "openai:" in settings.chat_model:
        return bool(settings.openai_api_key or settings.openai_base_url)
    return bool(settings.openai_api_key) and settings.embedder != "openai"


def _secret(key: SecretStr | None) -> str:
    return key.get_secret_value() if key else ""
