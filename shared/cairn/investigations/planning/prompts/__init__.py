"""The prompts of investigations, one a file: the text, the answer's shape, one worked example."""
