"""Which commands may run as connectors: those that the machine's owner allowed, word for word.

An admin of a workspace says over HTTP which command a connector is. What may run on the machine is
not a workspace's to say. Not where the list is kept: `storage.command_file`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cairn.connectors.requests import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from cairn.kernel.text.json_value import JsonValue

    CheckCommand = Callable[[Sequence[str], Collection[str]], "AllowedCommand"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedCommand:
    """A whole command line, the file that its first word stands for, and variables it may be given.

    A variable can change what runs (`PATH`, `LD_PRELOAD`), so each is allowed by name.
    """

    command: tuple[str, ...]
    program: str
    variables: tuple[str, ...] = ()


def variables_of(config: Mapping[str, JsonValue], secrets: Iterable[str]) -> frozenset[str]:
    """Return the names of the variables that a command would be given."""
    named = config.get("env")
    return frozenset([*(cast("dict[str, JsonValue]", named or {})), *secrets])


def check_command(
    allowed: Iterable[AllowedCommand], command: Sequence[str], variables: Collection[str]
) -> AllowedCommand:
    """Return what was allowed; ValidationFailed for another command, or another variable."""
    for entry in allowed:
        if entry.command == tuple(command):
            missing = sorted(set(variables) - set(entry.variables))
            if missing:
                names = " ".join(f"--env {name}" for name in missing)
                refuse(
                    "config.env",
                    f"may not set {', '.join(missing)} for this command; the machine's owner "
                    f"allows it: cairn connectors allow {names} -- COMMAND",
                )
            return entry
    refuse(
        "command",
        "may not run here; the machine's owner allows it: cairn connectors allow -- COMMAND. "
        "Bundled connectors and addresses need no leave",
    )
