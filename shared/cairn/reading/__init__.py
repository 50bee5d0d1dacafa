"""What readers of a workspace get back: records and use cases of lists. Nothing is changed here."""
