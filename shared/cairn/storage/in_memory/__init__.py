"""In-memory adapters for unit tests and demos. They forget everything with the process."""
