"""Cairn: memory and operations for AI agents."""
