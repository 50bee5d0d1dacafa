"""Summaries of episodes, sessions, agents, documents, and what is held true of an entity."""
