"""The ledger: entries, their hash chain, verification and keys. Not storage."""
