"""Asking language models: the port, routing by purpose, prices, budgets, and a model-free answer.

Not embeddings, and not prompts of other areas: those stand beside the use that sends them.
"""
