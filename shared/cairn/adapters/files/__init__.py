"""Keys and commands in files of this machine. Not for AWS."""
