"""How investigations move: admitted, run, resumed, ended. Not what a step does."""
