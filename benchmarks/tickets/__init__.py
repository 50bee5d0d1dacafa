"""`cairn bench tickets`: how well tickets are worked, and how safely."""
