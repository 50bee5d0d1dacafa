"""Nodes, edges and entities of any label: written, changed, merged, read. Rules: `graph`."""
