"""Use cases of writing: remember, delete, ingest documents, enrich. Not HTTP and not SQL."""
