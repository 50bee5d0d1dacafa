"""Text without meaning: scrubbing, canonical JSON, hashes, checks, words. Not understanding."""
