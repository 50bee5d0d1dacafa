"""Forget a client in a process of its own that kills itself at a chosen point.

`python -m tests.support.forget_and_die URL WORKSPACE FOLDER SIGNING_KEY POINT`
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.support.forgetting import SigningKey, Stand
from tests.support.remembering import admin_of

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POINTS = (
    "before the tombstone",
    "after the tombstone",
    "after the key",
    "inside the purge",
    "after the purge",
    "after the objects",
    "after the sweep",
)


@dataclass(frozen=True)
class Folder:
    """Tombstones in a folder, one file each version."""

    path: Path

    def put(self, key: str, content: bytes) -> None:
        place = self.path / "tombstones" / key.replace("/", "+")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def versions(self, prefix: str) -> Sequence[tuple[str, bytes]]:
        found = sorted((self.path / "tombstones").glob("*"))
        named = [(item.name.replace("+", "/"), item.read_bytes()) for item in found]
        return [item for item in named if item[0].startswith(prefix)]


def stand_in(folder: Path, pool: Database, workspace_id: UUID, signing: SigningKey) -> Stand:
    """A stand whose keys and tombstones are files, so that another process sees the same."""
    tombstones: Any = Folder(folder)
    return Stand(
        pool=pool,
        principal=admin_of(workspace_id),
        keys=FileKeyStore(folder / "keys.sqlite"),
        signing=signing,
        tombstones=tombstones,
    )


class Dying:
    """Stands before a part and kills the process before or after one of its methods."""

    def __init__(self, part: Any, method: str, *, before: bool = False) -> None:
        self._part, self._method, self._before = part, method, before

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        return self._dying(found) if name == self._method else found

    def __call__(self, *args: Any, **given: Any) -> Any:
        return self._dying(self._part)(*args, **given)

    def _dying(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def then_die(*args: Any, **given: Any) -> Any:
            if not self._before:
                call(*args, **given)
            os.kill(os.getpid(), signal.SIGKILL)

        return then_die


def parts_that_die(stand: Stand, point: str) -> dict[str, Any]:
    """Return the parts of Forget that end the process at the point."""
    if point == "before the tombstone":
        return {"tombstones": Dying(stand.tombstones, "put", before=True)}
    if point == "after the tombstone":
        return {"tombstones": Dying(stand.tombstones, "put")}
    if point == "after the key":
        return {"keys": Dying(stand.keys, "destroy")}
    if point == "inside the purge":
        ids = iter(range(1))  # the second id asked for is an entry's, inside the transaction

        def new_id() -> UUID:
            from cairn.kernel.ids import new_id

            if next(ids, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return new_id()

        return {"new_id": new_id}
    if point == "after the purge":
        return {"dispatcher": Dying(stand.system.sent, "send", before=True)}
    if point == "after the objects":
        stand.objects.put("ingestions/x", b"x")
        return {"objects": Dying(stand.objects, "erase"), "sweep": Dying(None, "", before=True)}
    sweep = stand.forget.sweep
    return {"sweep": Dying(sweep, "")}


def main() -> None:
    url, workspace_id, folder, secret, point = sys.argv[1:]
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
    pool = Database(url, size=2)
    stand = stand_in(Path(folder), pool, UUID(workspace_id), SigningKey(private))
    stand.forget = stand.forgetting(**parts_that_die(stand, point))
    stand.forgets()


if __name__ == "__main__":
    main()
