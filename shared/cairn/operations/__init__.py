"""What a deployment holds and what waits in it, in numbers, and the hourly sweep."""
