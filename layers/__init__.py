"""How the Lambda layers are made: dependency groups of the lock, the model, the authorities."""
