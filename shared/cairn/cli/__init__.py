"""The `cairn` command: thin commands over the HTTP API, the laptop stack and the owner's tools."""
