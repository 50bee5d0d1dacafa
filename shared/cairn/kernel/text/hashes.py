"""Content hashes. Not secret-keeping: keyed and password hashing live with the keys."""

import hashlib


def content_hash(text: str) -> str:
    """Return the first 16 hex digits of SHA-256 over `text` in UTF-8, already scrubbed."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sha256(data: bytes) -> bytes:
    """Return the 32 bytes of SHA-256 over `data`."""
    return hashlib.sha256(data).digest()
