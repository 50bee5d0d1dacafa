"""What a deployment offers of all that there is. A setting of its operator, not a licence."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """An edition by its name, the tools that it leaves out, and whether a directory brings people.

    `directory` is SCIM and SAML; people sign in by an OpenID Connect issuer in every edition.
    """

    name: str
    without: frozenset[str] = frozenset()
    directory: bool = False


FULL = Edition(name="full", directory=True)
TEAM = Edition(name="team")
"""Everything but directories: people are invited by hand, or come by an OpenID Connect issuer."""

MEMORY = Edition(
    name="memory",
    without=frozenset(
        {
            "ticket_add",
            "ticket_list",
            "investigation_start",
            "investigation_read",
            "approval_list",
            "call_list",
        }
    ),
)
"""Memory without operations: agents remember and recall, and nobody works on tickets."""

LIVE_MEMORY = frozenset(
    {
        "memory_recall",
        "memory_list",
        "context_get",
        "node_get",
        "node_trace",
        "graph_query",
        "graph_walk",
        "profile_read",
        "report_read",
        "report_list",
        "conversation_search",
    }
)
"""Tools that read what is remembered: not for an agent that has its snapshot alone."""

EDITIONS: Mapping[str, Edition] = MappingProxyType(
    {each.name: each for each in (FULL, TEAM, MEMORY)}
)
