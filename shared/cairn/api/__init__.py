"""The HTTP edge: routes by noun over the use cases it declares. No SQL, no business rules."""
