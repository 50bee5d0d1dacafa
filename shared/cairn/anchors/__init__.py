"""Anchors of chains, and the verification of chains against them. Rules: `ledger`."""
