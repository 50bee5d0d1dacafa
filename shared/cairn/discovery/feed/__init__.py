"""What a member is shown, how well it is kept, and whom they know."""
