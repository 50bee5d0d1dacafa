"""Where a document stands on its way through the ingestion machine. Not the record of a run."""

from enum import StrEnum


class DocumentStatus(StrEnum):
    """Where an ingestion stands: in this order, or failed from any of them."""

    ACCEPTED = "accepted"
    PARSED = "parsed"
    CHUNKED = "chunked"
    STORED = "stored"  # sections and chunks are there, searchable by keyword
    READY = "ready"  # searchable by vector too; the end of the good path
    FAILED = "failed"
