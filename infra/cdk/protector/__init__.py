"""The protector's code: run by deployments, outside the network, never by a request."""
