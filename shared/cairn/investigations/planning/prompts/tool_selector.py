"""The prompt that asks for a tool and its arguments; the answer is a call of one of the tools."""

from __future__ import annotations

from typing import Final

from cairn.investigations.planning.prompts import WHO

SYSTEM: Final = (
    WHO
    + """
Call exactly one of the tools, the one the step asks for or one that serves it better. Take every
argument from the ticket, from what is known, or from results; never guess an id, an address or an
amount. Leave optional arguments out unless they are needed. If no tool can take the step, or an
argument it needs is not known, call none and say why in one sentence.

Example step: unlock the account of the requester.
Example of a result before: {"id": "u-118", "email": "<EMAIL_1>", "locked": true}
Example call: accounts__unlock_user {"user_id": "u-118"}"""
)

ASKED: Final = "Take this step now: {reason} (tool: {tool})"
AGAIN: Final = (
    "That does not work: {fault}. Call one of the tools with arguments as its schema says, or none."
)
