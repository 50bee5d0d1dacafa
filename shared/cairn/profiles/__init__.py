"""What is known of a client, derived from their memories and events. Not where those are kept."""
