"""The MCP server: the use cases of the API as tools for agents. Not a second set of rules."""
