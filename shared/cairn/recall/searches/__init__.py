"""What is kept of a search, and what is made of it: explanations, replays, feedback. No texts."""
