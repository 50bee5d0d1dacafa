"""Documents and queries as OpenSearch takes them. Pure: values in, JSON values out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import BY_LABEL_ONLY, SAID_BY, Label, State
from cairn.kernel.access import Role
from cairn.search_index.sync import IndexDocument, bucket_of, mark_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.kernel.access import Principal
    from cairn.recall.records import Filters


MAX_TEXT_CHARS = 262_144
"""What of a node's text is indexed: eight times the longest memory."""

MAX_QUERY_CHARS = 480
"""Each character may become a clause in both fields (Chinese does), and 1,024 are allowed."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Json = dict[str, Any]


def document_id(workspace_id: UUID, node_id: UUID) -> str:
    """Return the id of a node's document; no workspace can name another's."""
    return f"{workspace_id}:{node_id}"


def action(index: str, document: IndexDocument) -> Json:
    """Return what a bulk request does with a document: put it in, or take it out."""
    place: Json = {
        "_index": index,
        "_id": document_id(document.workspace_id, document.node_id),
        "routing": str(document.workspace_id),
        "version": document.position,
        "version_type": "external_gte",
    }
    if not document.findable:
        return {"_op_type": "delete", **place}
    return {"_op_type": "index", **place, "_source": source(document)}


def source(document: IndexDocument) -> Json:
    """Return the fields of a document."""
    return {
        "own": document.own[:MAX_TEXT_CHARS],
        "context": document.context[:MAX_TEXT_CHARS],
        "workspace_id": str(document.workspace_id),
        "node_id": str(document.node_id),
        "label": [document.label, *document.extra_labels],
        "kind": document.kind,
        "scope": document.scope,
        "agents": list(document.agents) if document.agents is not None else None,
        "client_id": document.client_id,
        "state": document.state,
        "described": document.described,
        "occurred_at": microseconds(document.occurred_at),
        "valid_from": microseconds(document.valid_from),
        "valid_to": microseconds(document.valid_to) if document.valid_to else None,
        "position": document.position,
        "bucket": bucket_of(document.node_id),
        "mark": mark_of(document.node_id, document.position),
    }


def search_body(
    principal: Principal, terms: Sequence[str], filters: Filters, *, limit: int, timeout_ms: int
) -> Json:
    """Return the search for any of the terms. They are matched as text: nothing in them commands.

    The guards are the keyword leg's, so that the best `limit` are of what may be shown; they are
    held again by the database afterwards.
    """
    words = {
        "multi_match": {
            "query": " ".join(terms)[:MAX_QUERY_CHARS],
            "type": "most_fields",
            "fields": ["own", f"context^{CONTEXT_WEIGHT}"],
            "operator": "or",
        }
    }
    return {
        "query": {
            "bool": {
                "must": [words],
                "filter": [*_guards(principal, filters), *_wishes(filters)],
                "must_not": _left_out(filters),
            }
        },
        "size": limit,
        "_source": False,
        "track_total_hits": False,
        "sort": [{"_score": "desc"}, {"node_id": "asc"}],
        "timeout": f"{timeout_ms}ms",
    }


def _guards(principal: Principal, filters: Filters) -> list[Json]:
    scopes = set(principal.allowed_scopes)
    if filters.scopes:
        scopes &= set(filters.scopes)
    states = [State.ACTIVE, State.PROVISIONAL]
    if filters.include_superseded or filters.valid_at:
        states += [State.SUPERSEDED, State.ARCHIVED]
    guards: list[Json] = [
        {"term": {"workspace_id": str(principal.workspace_id)}},
        {"terms": {"scope": sorted(scopes)}},
        {"terms": {"state": [str(state) for state in states]}},
    ]
    if principal.agent_slug:
        guards.append({"term": {"agents": principal.agent_slug}})
    elif principal.role is not Role.ADMIN:
        guards.append({"bool": {"must_not": {"exists": {"field": "agents"}}}})
    return guards


def _wishes(filters: Filters) -> list[Json]:
    wishes: list[Json] = []
    if filters.labels:
        wishes.append({"terms": {"label": list(filters.labels)}})
    if filters.kinds:
        wishes.append({"terms": {"kind": list(filters.kinds)}})
    if filters.client_id is not None:
        wishes.append({"term": {"client_id": filters.client_id}})
    if filters.occurred_from:
        wishes.append({"range": {"occurred_at": {"gte": microseconds(filters.occurred_from)}}})
    if filters.occurred_to:
        wishes.append({"range": {"occurred_at": {"lt": microseconds(filters.occurred_to)}}})
    if filters.valid_at:
        wishes.append({"range": {"valid_from": {"lte": microseconds(filters.valid_at)}}})
    return wishes


def _left_out(filters: Filters) -> list[Json]:
    left_out: list[Json] = []
    if filters.valid_at:  # what has no end is not in the range
        left_out.append({"range": {"valid_to": {"lte": microseconds(filters.valid_at)}}})
    if not filters.labels:  # entities are found by their names elsewhere, unless they say something
        bare = [{"term": {"label": str(Label.ENTITY)}}, {"term": {"described": False}}]
        left_out.append({"bool": {"filter": bare}})
        left_out.append({"terms": {"label": [str(label) for label in BY_LABEL_ONLY]}})
        others = [{"terms": {"kind": list(SAID_BY)}}]
        message = [{"term": {"label": str(Label.MESSAGE)}}]
        left_out.append({"bool": {"filter": message, "must_not": others}})
    return left_out


def microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since 1970, exactly."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def node_id_of(hit: Json, workspace_id: UUID) -> UUID | None:
    """Return the node a hit names; None when its id is not one of this workspace's."""
    owner, _, node = str(hit.get("_id", "")).partition(":")
    if owner != str(workspace_id):
        return None
    try:
        return UUID(node)
    except ValueError:
        return None


ALIAS = "cairn-nodes"
MAPPING_VERSION = 1
PREFIX = f"{ALIAS}-v{MAPPING_VERSION}-"
ANY_VERSION = f"{ALIAS}-v*"
NAME = re.compile(rf"{ALIAS}-v(\d+)-[0-9a-f]{{32}}")
WRITING = "-writing"  # an alias of one index: a bulk request can never make an index by mistake

CONTEXT_WEIGHT = 0.6
"""What earlier messages weigh against a node's own text, as in PostgreSQL."""

BODY: dict[str, Any] = {
    "settings": {
        "index": {
            "number_of_shards": 1,
            "auto_expand_replicas": "0-1",
            "refresh_interval": "1s",
            "gc_deletes": "1h",  # so long a late write cannot bring back what was taken out
        }
    },
    "mappings": {
        "dynamic": "strict",
        "_meta": {"mapping_version": MAPPING_VERSION},
        "_source": {"enabled": False},
        "_routing": {"required": True},
        "properties": {
            "own": {"type": "text", "analyzer": "english", "index_options": "freqs"},
            "context": {"type": "text", "analyzer": "english", "index_options": "freqs"},
            "workspace_id": {"type": "keyword"},
            "node_id": {"type": "keyword"},
            "label": {"type": "keyword"},
            "kind": {"type": "keyword"},
            "scope": {"type": "keyword"},
            "agents": {"type": "keyword"},
            "client_id": {"type": "keyword"},
            "state": {"type": "keyword"},
            "described": {"type": "boolean"},
            "occurred_at": {"type": "long"},  # microseconds: dates here are exact to thousandths
            "valid_from": {"type": "long"},
            "valid_to": {"type": "long"},
            "position": {"type": "long"},
            "bucket": {"type": "keyword"},
            "mark": {"type": "long", "index": False},
        },
    },
}


def is_current(name: str) -> bool:
    """Say whether this version of the code can use the index."""
    return name.startswith(PREFIX)
