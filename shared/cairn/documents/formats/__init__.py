"""One reader a format, text or bytes to `ReadBlocks`. Each imports its library when called."""
