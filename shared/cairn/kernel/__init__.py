"""What every area builds on: errors, ids, clock, texts, principals, transactions. No noun."""
