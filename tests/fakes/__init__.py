"""In-memory adapters for tests. They forget everything with the process."""
