"""Connectors that ship with Cairn: each module is an MCP server of its own."""
