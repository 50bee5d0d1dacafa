"""Taints: what cannot be trusted is held back with all that was made of it, and let out again."""
