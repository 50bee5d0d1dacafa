"""`cairn bench locomo`: recall over long conversations, by the questions of LoCoMo."""
