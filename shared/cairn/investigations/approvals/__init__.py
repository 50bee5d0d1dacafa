"""Questions to people before an action: asked, decided, granted. Not the rules."""
