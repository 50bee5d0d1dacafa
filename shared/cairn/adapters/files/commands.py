"""The file in which a machine's owner lists commands that may run as connectors.

It counts only while nobody else could have written it: it and its folder belong to this user or to
root, and neither group nor others may write them.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cairn.connectors.requests import AllowedCommand, check_command, refuse
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class CommandFile:
    """Which commands a connector may start; no path allows nothing."""

    path: Path | None

    def __call__(self, command: Sequence[str], variables: Collection[str]) -> AllowedCommand:
        """Return what was allowed of this; ValidationFailed when it was not."""
        if self.path is None:
            refuse("command", "may not run here; only bundled connectors and addresses may")
        return check_command(self.read(), command, variables)

    def read(self) -> list[AllowedCommand]:
        """Return what is allowed; ValidationFailed when somebody else could have written it."""
        if self.path is None or not self.path.is_file():
            return []
        self._check_owner(self.path.parent)
        with self.path.open(encoding="utf-8") as stream:
            _check(os.fstat(stream.fileno()), self.path)
            try:
                entries: list[dict[str, Any]] = json.load(stream)["commands"]
                return [
                    AllowedCommand(
                        command=tuple(entry["command"]),
                        program=entry["program"],
                        variables=tuple(entry["variables"]),
                    )
                    for entry in entries
                ]
            except (ValueError, KeyError, TypeError) as exc:
                raise ValidationFailed(f"{self.path} is damaged; nothing is allowed.") from exc

    def write(self, entries: Sequence[AllowedCommand]) -> None:
        """Replace the list, whole or not at all."""
        assert self.path is not None
        text = json.dumps({"commands": [asdict(entry) for entry in entries]}, indent=2)
        draft = self.path.with_name(f"{self.path.name}.draft")
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        draft.write_text(f"{text}\n", encoding="utf-8")
        draft.replace(self.path)

    @staticmethod
    def _check_owner(folder: Path) -> None:
        _check(folder.stat(), folder)


def _check(status: os.stat_result, path: Path) -> None:
    if status.st_uid not in {os.geteuid(), 0} or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ValidationFailed(f"{path} can be written by others; nothing is allowed.")
