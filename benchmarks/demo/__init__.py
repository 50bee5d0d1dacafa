"""`cairn demo`: what `make run` shows on a running stack. Its texts are in samples/."""
