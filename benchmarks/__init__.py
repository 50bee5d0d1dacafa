"""Benchmarks (`cairn bench`) and the demo (`cairn demo`) of a clone; not in the package.

They use `cairn` and nothing of it uses them; only the command line imports them, by name.
"""
