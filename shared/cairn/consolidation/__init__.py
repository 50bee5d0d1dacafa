"""Consolidation: what a batch of memories says together, planned by rules or a model, then kept."""
