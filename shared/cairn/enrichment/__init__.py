"""The embed stage: vectors, entities, causes and likeness of what was written."""
