"""The search index outside the database: kept up with it, compared, built anew."""
