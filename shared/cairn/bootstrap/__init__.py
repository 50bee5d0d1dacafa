"""The composition root: settings to adapters to one services object an edge.

Each function has a module of its own, so that importing one function's does not import what the
others need; `owner` is for the owner of the database. Use cases live with their noun, not here.
"""
