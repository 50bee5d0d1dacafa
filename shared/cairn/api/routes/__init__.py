"""One module a noun; each parses, calls one use case and maps the result."""
