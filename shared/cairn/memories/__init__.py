"""Memories: kinds, identity, chains, remembering, deleting. Finding them is `recall`'s."""
