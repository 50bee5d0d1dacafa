"""Anchors in a dict, for tests. Nothing is locked: tests change them as a thief would."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class InMemoryAnchors:
    """Implements `anchors.anchors.AnchorStore`."""

    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        self.objects[key] = content

    def keys(self, prefix: str) -> Sequence[str]:
        """Return all keys that begin with `prefix`, in order."""
        return sorted(key for key in self.objects if key.startswith(prefix))

    def folders(self, prefix: str) -> Sequence[str]:
        """Return what stands between `prefix` and the next slash, of all keys, in order."""
        below = (key.removeprefix(prefix) for key in self.keys(prefix))
        return list(dict.fromkeys(item.partition("/")[0] for item in below if "/" in item))

    def read(self, keys: Sequence[str]) -> Sequence[bytes]:
        """Return the bytes of each key."""
        try:
            return [self.objects[key] for key in keys]
        except KeyError as exc:
            raise NotFound("The object is gone.", reason="no-object") from exc
