"""Checks of what a caller sent: names, moments, owners, metadata, scrubbed. Pure; not planning."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied, FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.kernel.text.scrub import scrub, scrub_value
from cairn.writing.audience import GLOBAL_CLIENT

MAX_TEXT_CHARS = 32_000
MAX_NAME_CHARS = 256
MAX_METADATA_BYTES = 16_384
MAX_LIST_ITEMS = 50
EARLIEST_YEAR, LATEST_YEAR = 1900, 2200

Owner = tuple[str, str]
"""(kind, natural key) of a data subject: ("client", "acme") or ("person", "ada@example.org")."""


def owners(client_id: str, data_subjects: tuple[str, ...]) -> tuple[Owner, ...]:
    """Return whose data a text is: its client unless global, and the persons named."""
    if len(data_subjects) > MAX_LIST_ITEMS:
        refuse("data_subjects", f"has more than {MAX_LIST_ITEMS} items")
    persons = [("person", clean_name(name, "data_subjects") or "") for name in data_subjects]
    clients = [] if client_id == GLOBAL_CLIENT else [("client", client_id)]
    return tuple(dict.fromkeys([*clients, *persons]))


def tagged_agents(agents: tuple[str, ...], principal: Principal) -> tuple[str, ...] | None:
    """Return the agents a node is tagged for; a key bound to an agent tags for that agent only."""
    if len(agents) > MAX_LIST_ITEMS:
        refuse("agents", f"has more than {MAX_LIST_ITEMS} items")
    names = tuple(sorted({clean_name(agent, "agents") or "" for agent in agents}))
    if principal.agent_slug is None:
        return names or None
    if set(names) - {principal.agent_slug}:
        raise Denied("This key may tag memories for its own agent only.", reason="agent")
    return (principal.agent_slug,)


def source_agent(value: str | None, principal: Principal, *, field: str = "source_agent") -> str:
    """Return who says it: the key's agent, else the name given, else the key's name."""
    name = clean_name(value, field)
    if principal.agent_slug is None:
        return name or principal.name or principal.role
    if name not in (None, principal.agent_slug):
        raise Denied("This key may write as its own agent only.", reason="agent")
    return principal.agent_slug


def moment(value: datetime | None, field: str) -> datetime | None:
    """Return `value` when it has a time zone and lies in the years 1900 to 2200."""
    if value is None:
        return None
    if value.utcoffset() is None:
        refuse(field, "needs a time zone, such as 2026-05-01T12:00:00Z")
    if not EARLIEST_YEAR <= value.year <= LATEST_YEAR:
        refuse(field, f"must lie in the years {EARLIEST_YEAR} to {LATEST_YEAR}")
    return value


def clean_metadata(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return metadata without secrets; at most 16 KiB of JSON, ten levels deep."""
    checked = clean_json(
        dict(metadata), field="metadata", max_bytes=MAX_METADATA_BYTES, max_depth=10
    )
    return cast("Mapping[str, Any]", scrub_value(checked)[0])


def require_writer(principal: Principal) -> None:
    """Raise Denied for a key that may only read."""
    principal.require(Role.ADMIN, Role.AGENT)


def refuse(field: str, message: str) -> None:
    """Raise ValidationFailed about one field."""
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])


def clean_name(value: str | None, field: str) -> str | None:
    """Return a short name without secrets, None for None; ValidationFailed names the field."""
    if value is None:
        return None
    return _scrubbed_name(clean_text(value, field=field, max_chars=MAX_NAME_CHARS))


@lru_cache(maxsize=4096)
def _scrubbed_name(name: str) -> str:
    """Return a name without secrets; a batch repeats its few names five hundred times."""
    return scrub(name).text
