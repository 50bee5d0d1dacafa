"""PostgreSQL adapters: named queries in `queries/`, numbered migrations in `migrations/`."""
