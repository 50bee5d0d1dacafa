"""What a summary is made of, and what its entry says. Pure; what it does to rows is `summary_rows`.

Ids follow from what is summarised: an episode's from the source recorded first, so that a late one
does not change it, a session's and an agent's from its name and audience.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.kernel.text.hashes import content_hash
from cairn.safety.screening import screen
from cairn.summaries.ports import Group, Scope, Source, fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.summaries.ports import Condensed, HeldEdge

VERSION = "1"
"""Of the rules. Another one writes every summary anew with the next run."""

RELATIONS = (Relation.SUMMARIZES.value, Relation.DERIVED_FROM.value)
MOST_OBSERVERS = 20
NOBODY = "cairn"
WEIGHTIEST = 3
"""A summary is as important as its so many most important sources are on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A summary to write. `covers` is what its whole group was, `made_of` its own sources."""

    id: UUID
    scope: Scope
    group: Group
    sources: tuple[Source, ...]
    covers: str
    condensed: Condensed

    @property
    def made_of(self) -> str:
        """Return the fingerprint of the sources."""
        return made_of(self.sources)


def made_of(sources: Iterable[Source]) -> str:
    """Return the fingerprint of sources, under these rules."""
    return covering(fingerprint((source.id, source.content_hash) for source in sources))


def covering(print_: str) -> str:
    """Return a fingerprint as summaries keep it: with the version of the rules."""
    return f"{VERSION}/{print_}"


def episode_id(sources: Sequence[Source]) -> UUID:
    """Return the id of an episode's summary."""
    return derived_id(min(source.id for source in sources), "episode")


def group_id(workspace_id: UUID, group: Group, scope: Scope) -> UUID:
    """Return the id of a session's or an agent's summary.

    A conversation stands in it by its node's id: its session may be somebody's address.
    """
    name = group.conversation_id or group.session_id or group.trace_id or group.agent
    return derived_id(
        workspace_id, "summary", scope, name, group.scope, group.agents, *group.data_subjects
    )


def entry_of(
    drafts: Sequence[Draft],
    dropped: Collection[UUID],
    *,
    group: Group,
    held: Sequence[HeldEdge],
    standing: Collection[UUID],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return meta and body of one `summary.written` entry: drafts of one audience, and what goes.

    `held` are the open edges from all of these summaries, `standing` which of the drafts have a
    node already.
    """
    pairs = {(draft.id, source.id) for draft in drafts for source in draft.sources}
    closed = [edge.id for edge in held if (edge.source_id, edge.target_id) not in pairs]
    has = {(edge.source_id, edge.relation, edge.target_id) for edge in held}
    meta = {
        "scope": group.scope,
        "node_ids": [str(draft.id) for draft in drafts],
        "dropped": [str(id_) for id_ in dropped],
    }
    body = {
        "agents": list(group.agents) if group.agents is not None else None,
        "client_id": group.client_id,
        "summaries": [
            {**_described(draft), "stands": draft.id in standing, "edges": _edges(draft, has)}
            for draft in drafts
        ],
        "closed": [str(item) for item in closed],
    }
    return meta, body


def dropping(
    dropped: Collection[UUID], held: Iterable[HeldEdge]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return meta and body of an entry that drops summaries and closes their edges, and no more."""
    meta = {"scope": None, "node_ids": [], "dropped": [str(id_) for id_ in dropped]}
    body = {
        "agents": None,
        "client_id": None,
        "summaries": [],
        "closed": [str(edge.id) for edge in held],
    }
    return meta, body


def _edges(draft: Draft, has: Collection[tuple[UUID, str, UUID]]) -> list[list[str]]:
    """Return the [relation, target] that a draft's node lacks."""
    return [
        [relation, str(source.id)]
        for source in draft.sources
        for relation in RELATIONS
        if (draft.id, relation, source.id) not in has
    ]


def _described(draft: Draft) -> dict[str, Any]:
    group, text = draft.group, draft.condensed.text
    observers = observers_of(draft)
    return {
        "id": str(draft.id),
        "kind": draft.scope.value,
        "text": text,
        "content_hash": content_hash(text),
        "importance": importance(source.importance for source in draft.sources),
        "occurred_at": format_timestamp(min(source.occurred_at for source in draft.sources)),
        "observed_by": list(observers),
        "source_agent": group.agent or (observers[0] if len(observers) == 1 else NOBODY),
        "session_id": group.session_id,
        "trace_id": trace_of(draft),
        "parent_id": str(group.conversation_id) if group.conversation_id else None,
        "screening": screen(text).verdict.value.lower(),
        "metadata": _metadata(draft),
    }


def as_source(draft: Draft) -> Source:
    """Return a summary as the one above is made of it, as it will be read once it is written."""
    fields = _described(draft)
    return Source(
        id=draft.id,
        text=fields["text"],
        content_hash=fields["content_hash"],
        occurred_at=parse_timestamp(fields["occurred_at"]),
        agents=tuple(fields["observed_by"]),
        importance=fields["importance"],
        event_count=fields["metadata"]["event_count"],
        last_at=parse_timestamp(fields["metadata"]["time_range"][1]),
    )


def _metadata(draft: Draft) -> dict[str, Any]:
    condensed = draft.condensed
    scope_id = trace_of(draft) or draft.group.session_id or draft.group.agent
    first = min(source.occurred_at for source in draft.sources)
    fields: dict[str, Any] = {
        "scope": draft.scope.value,
        "scope_id": scope_id,
        "event_count": sum(source.event_count for source in draft.sources),
        "time_range": [format_timestamp(first), format_timestamp(last_of(draft.sources))],
        "provider": condensed.provider,
        "model": condensed.model,
        "is_extract": condensed.is_extract,
        "covers": draft.covers,
        "made_of": draft.made_of,
    }
    return fields | ({"refused": condensed.refused} if condensed.refused else {})


def trace_of(draft: Draft) -> str | None:
    """Return the trace an episode is; None for a run of a session, a session and an agent."""
    if draft.scope is not Scope.EPISODE:
        return None
    return draft.group.trace_id or draft.sources[0].trace_id


def observers_of(draft: Draft) -> tuple[str, ...]:
    """Return who said it, the first twenty; an agent's summary is that agent's."""
    if draft.group.agent is not None:
        return (draft.group.agent,)
    return tuple(dict.fromkeys(a for source in draft.sources for a in source.agents))[
        :MOST_OBSERVERS
    ]


def last_of(sources: Iterable[Source]) -> datetime:
    """Return when the last thing the sources stand for happened."""
    return max(source.last_at or source.occurred_at for source in sources)


def importance(values: Iterable[int]) -> int:
    """Return the mean of the three highest, rounded half up."""
    highest = sorted(values, reverse=True)[:WEIGHTIEST]
    return int(sum(highest) / len(highest) + 0.5)
