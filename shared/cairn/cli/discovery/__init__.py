"""Commands of discovery: networks, intents, opportunities, negotiations, the feed, contacts."""
