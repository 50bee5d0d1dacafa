"""Help desks with a REST API, a module each: their JSON in canonical form. No HTTP."""
