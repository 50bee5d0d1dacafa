"""The unit of work of every write: entries, keys, append, project, outbox. Not its meaning."""
