"""The steps of an investigation: one module a state, each a callable on a `Situation`."""
