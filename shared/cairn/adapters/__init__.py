"""Adapters of the ports: PostgreSQL, key stores, queues, in-memory fakes. No rules live here."""
