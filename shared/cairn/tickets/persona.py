"""A persona: how an agent works for one kind of ticket. A record; not the agent."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from cairn.safety.tools import Autonomy

DEFAULT_TOKENS = 50_000
DEFAULT_USD = Decimal("0.50")
DEFAULT_SECONDS = 900
DEFAULT_ITERATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """Instructions, budget, autonomy and whom to call. The name is unique in its workspace.

    `escalation` is a channel and its target: `webhook:<id>`, `ticket-note`, `slack:<name>`.
    `autonomy` caps what connectors allow. `version` counts its changes.
    """

    name: str
    instructions: str = ""
    escalation: str = "ticket-note"
    autonomy: Autonomy = Autonomy.PROPOSE
    max_tokens: int = DEFAULT_TOKENS
    max_usd: Decimal = DEFAULT_USD
    max_seconds: int = DEFAULT_SECONDS
    max_iterations: int = DEFAULT_ITERATIONS
    redaction: str = "pii"
    version: int = 1


DEFAULT = Persona(name="default")
