"""Another embedding model beside the one in use: fill, compare, check, remove. Not the embedder."""
