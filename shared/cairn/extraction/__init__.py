"""What a message says that is worth remembering, by rules. Pure; nothing is stored here."""
