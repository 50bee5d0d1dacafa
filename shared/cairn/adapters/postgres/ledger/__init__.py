"""Stores of the ledger's keepers, in PostgreSQL: forgetting, replay, taints, proof."""
