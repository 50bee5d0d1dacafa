"""What a text from outside looks like, whatever door it came by. Not what becomes of it."""
