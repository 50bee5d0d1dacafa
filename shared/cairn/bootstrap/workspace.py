"""What the environment says where a workspace sets nothing, as a document of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cairn.settings import ApiSettings, RetrieveSettings
    from cairn.workspace.documents import Document


def deployment_document(settings: ApiSettings | RetrieveSettings) -> Document:
    """Return the environment's part of every workspace's settings."""
    models: dict[str, Any] = {"chat": settings.chat_model} if settings.chat_model else {}
    limits = [part.partition("=") for part in settings.model_budgets.split(",")]
    if budgets := {name.strip(): value.strip() for name, _, value in limits if value}:
        models["budgets"] = budgets
    sections = {"recall": settings.constants(), "models": models}
    return {name: section for name, section in sections.items() if section}
