"""Recall: from a question to the few memories that matter. Rules and ports; no SQL, no HTTP."""
