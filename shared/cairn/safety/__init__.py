"""Keeping agents safe from what they read and do. Not access control: that is the database's."""
