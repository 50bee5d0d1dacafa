"""Sources of knowledge: where documents are read of, on a schedule. Not the reading of a document.

`keep.py` is what an admin does, `sync.py` what a worker does; how a kind is read is an adapter.
"""
