"""One construct a module; the stacks are made of these."""
