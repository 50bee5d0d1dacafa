"""`cairn bench consolidation`: what the rules make of labelled pairs of memories. No database."""
