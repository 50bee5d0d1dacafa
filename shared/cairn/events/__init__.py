"""Events: what happened in a session, its place and its cause. Not messages of conversations."""
