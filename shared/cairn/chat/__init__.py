"""Chat: one turn of a conversation, by a model with tools or by rules. Not the tools, not HTTP."""
