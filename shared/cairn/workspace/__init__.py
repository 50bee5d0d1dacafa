"""What a workspace may set. Not the environment of a deployment: that is `cairn.settings`."""
