"""API keys: made, listed and revoked. Not principals."""
