"""The chat widget's door to pages of customers: its origins and its tool. No use case."""
