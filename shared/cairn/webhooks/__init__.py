"""Webhooks: who is told of what happens, and telling them. Not the webhooks that come in."""
