"""People a member knows: written down, imported, read from a calendar, and invited."""
