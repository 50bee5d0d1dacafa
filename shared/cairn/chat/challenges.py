"""The built-in challenge: a text whose hash with the challenge begins with zeros. Pure.

A browser spends a part of a second on it, whoever sends thousands of messages as many parts. The
other challenges are services' (`widget.ChallengeKind`).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BITS = 16
"""65,536 hashes on average."""

MAX_ANSWER_CHARS = 32


def make_challenge(make_token: Callable[[int], str]) -> str:
    """Return a challenge that was never asked before."""
    return make_token(16)


def solves(challenge: str, answer: str) -> bool:
    """Return whether SHA-256 of `challenge.answer` begins with so many zero bits."""
    if not 0 < len(answer) <= MAX_ANSWER_CHARS or not answer.isascii():
        return False
    digest = hashlib.sha256(f"{challenge}.{answer}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - BITS) == 0


def solve(challenge: str) -> str:
    """Return an answer, as a browser finds it."""
    number = 0
    while not solves(challenge, str(number)):
        number += 1
    return str(number)
