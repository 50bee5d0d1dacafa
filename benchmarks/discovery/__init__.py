"""Discovery: who finds whom in a written network, and how well."""
