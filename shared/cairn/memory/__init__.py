"""What agents remember: kinds, identity, supersede chains. Pure; nothing here reads a clock."""
