"""What a question asks: gate, rewriting, intents, terms, times. Nothing is looked up."""
