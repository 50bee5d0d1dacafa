"""Where people come in: they are called, they judge what was done, and they decide what is kept."""
