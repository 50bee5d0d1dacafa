"""Clients of other services over HTTP: help desks, webhooks, connectors. No rules of ours."""
