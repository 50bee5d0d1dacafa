"""Nodes and edges: what can be found and how it hangs together. Pure; not the storage of them."""
