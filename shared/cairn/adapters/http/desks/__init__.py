"""One module a help desk: its declaration (`DESK`), its client where nobody else uses that."""
