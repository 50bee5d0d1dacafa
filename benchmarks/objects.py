"""An object store in memory, for tests and benchmarks. Not for data that must outlive the process.

Its URLs lead nowhere.
"""

from dataclasses import dataclass, field

from cairn.documents.ports import Presigned
from cairn.kernel.errors import NotFound


@dataclass
class InMemoryObjects:
    """Implements `cairn.documents.ports.ObjectStore`."""

    held: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        self.held[key] = content

    def get(self, key: str) -> bytes:
        """Return the bytes of a key; NotFound when there are none."""
        if key not in self.held:
            raise NotFound("There is no such object.")
        return self.held[key]

    def size(self, key: str) -> int | None:
        """Return how many bytes a key holds, None when it holds nothing."""
        return len(self.held[key]) if key in self.held else None

    def delete(self, key: str) -> None:
        """Remove a key; nothing happens when it is not there."""
        self.held.pop(key, None)

    def first_bytes(self, key: str, count: int) -> bytes:
        """Return the first bytes of a key, `count` at most."""
        return self.get(key)[:count]

    def presign(
        self, key: str, *, size: int, media_type: str, sha256: str | None, seconds: int
    ) -> Presigned:
        """Return a URL that takes nothing."""
        return Presigned(url=f"https://uploads.example.org/{key}", headers={})
