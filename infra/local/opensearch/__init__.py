"""OpenSearch on this machine: one real node in a JVM, fetched by Maven. Optional."""
