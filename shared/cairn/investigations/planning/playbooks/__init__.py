"""What the planner without a model knows of tickets: a table of playbooks, as data.

A playbook says which words make a ticket its own, what to look at, what may be changed and under
which signs, and how it ends. `BOOKS` is read from the front: the first of the best fitting holds.
"""

from __future__ import annotations

from cairn.investigations.planning.playbooks.general import AUTHORITY, BILLING, GENERAL, WEBHOOK
from cairn.investigations.planning.playbooks.lockout import LOCKOUT, MFA

BOOKS = (AUTHORITY, BILLING, MFA, LOCKOUT, WEBHOOK)
"""Those with a topic of their own; `GENERAL` takes the rest."""

__all__ = ["BOOKS", "GENERAL"]
