"""How clients of MCP sign in: what is published, the issuer of a laptop. Not the keys it gives."""
