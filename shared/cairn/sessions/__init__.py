"""What a session begins with. Not what a question finds, and not the workflows' briefings."""
