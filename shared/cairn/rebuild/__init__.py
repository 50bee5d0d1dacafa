"""Rows made anew from the ledger: replay, rebuild, restore, orphans. Not verification."""
