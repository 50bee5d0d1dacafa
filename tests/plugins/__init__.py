"""pytest plugins: an embedded PostgreSQL, an AWS emulator, and the whole laptop, each lazily."""
