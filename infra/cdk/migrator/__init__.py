"""The migrator's code: run by deployments and by the operator, never by a request."""
