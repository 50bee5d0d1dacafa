"""Conversations: messages recorded in order, read and searched. Not tickets' messages."""
