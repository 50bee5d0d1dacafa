"""`cairn bench compaction`: what a conversation still answers after it was made shorter."""
