"""`cairn bench intents`: intent-weighted walks against PageRank on what agents did. Not recall."""
