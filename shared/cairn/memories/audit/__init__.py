"""Audits of memories of any store: what is doubled, wrong, secret or junk. Changes nothing."""
