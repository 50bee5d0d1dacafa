"""One stack a module; stacks compose constructs and hold no resource detail of their own."""
