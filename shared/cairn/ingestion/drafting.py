"""From what a caller sent to a checked and scrubbed draft. Pure; not planning and not storage."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from cairn.access import Principal, Role
from cairn.errors import Denied, FieldError, ValidationFailed
from cairn.ingestion.requests import NewMemory
from cairn.memory.draft import GLOBAL_CLIENT, Audience, MemoryDraft
from cairn.memory.importance import derived_importance
from cairn.memory.kinds import DEFAULT_CATEGORY, Category, KnowledgeCategory
from cairn.safety.screening import screen
from cairn.text.checks import clean_json, clean_text
from cairn.text.hashes import content_hash
from cairn.text.scrub import scrub, scrub_value

MAX_TEXT_CHARS = 32_000
MAX_NAME_CHARS = 256
MAX_METADATA_BYTES = 16_384
MAX_LIST_ITEMS = 50
EARLIEST_YEAR, LATEST_YEAR = 1900, 2200

Owner = tuple[str, str]
"""(kind, natural key) of a data subject: ("client", "acme") or ("person", "ada@example.org")."""


def draft_memory(new: NewMemory, principal: Principal, now: datetime) -> MemoryDraft:
    """Return the draft of a memory; its audience has no data subjects yet (see `owners`).

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    text = scrub(clean_text(new.text, field="text", max_chars=MAX_TEXT_CHARS)).text
    occurred_at = moment(new.occurred_at, "occurred_at") or now
    valid_from = moment(new.valid_from, "valid_from") or occurred_at
    valid_to = moment(new.valid_to, "valid_to")
    if valid_to is not None and valid_to < valid_from:
        refuse("valid_to", f"is before valid_from ({valid_from.isoformat()})")
    return MemoryDraft(
        text=text,
        kind=new.type,
        content_hash=content_hash(text),
        audience=Audience(
            scope=scope, agents=tagged_agents(new.agents, principal), data_subjects=()
        ),
        source_agent=source_agent(new.source_agent, principal),
        occurred_at=occurred_at,
        valid_from=valid_from,
        valid_to=valid_to,
        client_id=clean_name(new.client_id, "client_id") or GLOBAL_CLIENT,
        key=clean_name(new.key, "key"),
        subject=clean_name(new.subject, "subject"),
        status_value=clean_name(new.status_value, "status_value"),
        category=Category(new.category) if new.category else DEFAULT_CATEGORY[new.type],
        importance=new.importance or derived_importance(text, new.type),
        knowledge_category=KnowledgeCategory(new.knowledge_category or "general"),
        session_id=clean_name(new.session_id, "session_id"),
        sequence=new.sequence,
        trace_id=clean_name(new.trace_id, "trace_id"),
        parent_id=new.parent_id,
        task_id=new.produced_by_task_id,
        confidence=new.confidence,
        metadata=clean_metadata(new.metadata),
        screening=screen(text).verdict.value.lower(),
    )


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
    wanted = tuple(sorted({clean_name(agent, "agents") or "" for agent in agents}))
    if principal.agent_slug is None:
        return wanted or None
    if set(wanted) - {principal.agent_slug}:
        raise Denied("This key may tag memories for its own agent only.", reason="agent")
    return (principal.agent_slug,)


def source_agent(named: str | None, principal: Principal, *, field: str = "source_agent") -> str:
    """Return who says it: the key's agent, else the name given, else the key's name."""
    name = clean_name(named, field)
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
    """Return metadata without secrets; at most 16 KiB of JSON, five levels deep."""
    checked = clean_json(
        dict(metadata), field="metadata", max_bytes=MAX_METADATA_BYTES, max_depth=5
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
