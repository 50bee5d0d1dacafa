"""States that programs of agents go on from. Not memories: no search finds one."""
