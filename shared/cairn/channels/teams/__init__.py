"""Microsoft Teams: what the Bot Connector sends, and what a bot says. Not the HTTP."""
