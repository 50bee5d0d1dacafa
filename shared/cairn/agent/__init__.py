"""Investigations: what an agent does with a ticket, step by step."""
