"""The host of connectors: MCP servers that agents act through."""
