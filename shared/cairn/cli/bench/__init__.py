"""`cairn bench`: recall and speed, measured through the HTTP API like a client sees them."""
