"""Recall: from a question to the few memories that matter. Pure rules and ports; no SQL, no HTTP."""
