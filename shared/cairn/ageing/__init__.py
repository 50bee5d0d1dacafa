"""What nobody uses ages: expiry, archives, purges, and the accesses that count as use."""
