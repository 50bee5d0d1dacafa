"""The chat widget's door to pages of customers: its script, its origins, its tool. No use case."""
