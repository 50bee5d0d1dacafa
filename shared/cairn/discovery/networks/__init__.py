"""Members, their networks, invites, and which intent belongs where. Not what intents say."""
