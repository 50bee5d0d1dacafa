"""Walks of the graph: the graph leg, subgraphs, lineages, drawings. Their rules: `graph`."""
