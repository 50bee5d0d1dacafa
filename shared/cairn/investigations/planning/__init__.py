"""How an investigation thinks: what a planner is shown, and planners by models and by rules."""
