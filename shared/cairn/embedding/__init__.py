"""Turning text into vectors: the port, the models by name and the adapters. Not storing them."""
