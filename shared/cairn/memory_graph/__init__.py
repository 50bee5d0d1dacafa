"""The memory graph of eleven methods, over the ledger."""
