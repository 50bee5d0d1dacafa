"""Stores of what is remembered, in PostgreSQL: queries and their mapping, no rules."""
