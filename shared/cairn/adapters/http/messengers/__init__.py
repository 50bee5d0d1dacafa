"""One module a kind of messaging channel: its declaration (`MESSENGER`), its client."""
