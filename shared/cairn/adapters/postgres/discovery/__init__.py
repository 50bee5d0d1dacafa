"""Stores of discovery, in PostgreSQL: members, networks, intents, opportunities."""
