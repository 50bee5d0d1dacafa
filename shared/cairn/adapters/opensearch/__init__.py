"""Adapters for OpenSearch, where nodes are found by their words. Loaded on first use only."""
