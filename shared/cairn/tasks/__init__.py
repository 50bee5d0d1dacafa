"""Tasks: pieces of work that agents start, report on and end. Not the work itself."""
