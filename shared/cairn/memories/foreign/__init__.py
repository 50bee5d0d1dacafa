"""Memories of other stores, read from their exports: as memories to write, or records to audit."""
