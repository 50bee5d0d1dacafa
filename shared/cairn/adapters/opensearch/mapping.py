"""What an index of nodes looks like. A change of anything here is a new MAPPING_VERSION.

Texts are in the inverted index only: there is no `_source`, so taking a document out is all that
forgetting needs. Every other field is a guard, an id or a number.
"""

from __future__ import annotations

import re
from typing import Any

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
