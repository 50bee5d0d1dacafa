"""Reads a file of agent events and of queries with the events that answer them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure
from cairn.graph.intent_weights import Intent

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """A query, the intent a person gave it, and the keys of the events that answer it."""

    query: str
    intent: Intent
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCorpus:
    """Events as bodies of `POST /v1/events`, a list a session, by key; and the queries."""

    sessions: tuple[tuple[tuple[str, dict[str, Any]], ...], ...]
    queries: tuple[AskedFor, ...]


def read_events(path: Path) -> EventCorpus:
    """Read a corpus; Failure says what is wrong with the file.

    `caused_by` names an earlier event of the same session.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sessions = tuple(_session(session) for session in content["sessions"])
        queries = tuple(
            AskedFor(
                query=query["query"],
                intent=Intent(query["intent"]),
                relevant=frozenset(query["relevant"]),
            )
            for query in content["queries"]
        )
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is not a file of events and queries: {exc!r}.") from exc
    known = {key for session in sessions for key, _ in session}
    for query in queries:
        if missing := sorted(query.relevant - known):
            raise Failure(f"{path}: {query.query!r} names unknown events: {', '.join(missing)}.")
    return EventCorpus(sessions=sessions, queries=queries)


def _session(session: dict[str, Any]) -> tuple[tuple[str, dict[str, Any]], ...]:
    common = {name: session[name] for name in ("session_id", "agent_id", "trace_id")}
    keys = [event["key"] for event in session["events"]]
    bodies: list[tuple[str, dict[str, Any]]] = []
    for event in session["events"]:
        body = {name: value for name, value in event.items() if name not in ("key", "caused_by")}
        if "caused_by" in event:
            body["parent_item"] = keys.index(event["caused_by"])
        bodies.append((event["key"], common | body))
    return tuple(bodies)
