"""Members' agents find each other: networks, intents, opportunities, negotiations, the feed."""
