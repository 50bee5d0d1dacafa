"""Use cases of a workspace's life: its keys, its first admin. Not what it remembers."""
