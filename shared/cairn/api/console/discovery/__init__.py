"""Pages of what a member of networks keeps to themselves, for the person who is that member."""
