"""Signing in by a device code, as a terminal shows it: the code, then the wait. Not whose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.options import escape, print_json

if TYPE_CHECKING:
    from cairn.cli.deps import Deps

Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Wait until the person has said yes or no.")
]
ENDED = {
    "denied": "The person said no.",
    "expired": "The code was not used in time.",
    "failed": "The authorization server refuses.",
    "refused": "The sign-in is good no more.",
    "none": "It is not signed in.",
}


def sign_in(deps: Deps, path: str, name: str, *, wait: bool, as_json: bool) -> None:
    """Begin, show the code, and wait for what becomes of it; exit status 1 when it is not done."""
    shown = deps.client.post(f"{path}/sign-in", {})
    if shown["state"] == "pending":
        _show_code(deps, shown, as_json=as_json)
    if wait:
        shown = _awaited(deps, path, shown)
    if as_json:
        print_json(shown)
    if shown["state"] == "signed-in":
        return None if as_json else deps.out.print(f"[green]signed in[/] {name}", highlight=False)
    if wait:
        reason = f" ({shown['reason']})" if shown["reason"] else ""
        raise Failure(
            f"{ENDED.get(shown['state'], shown['state'])}{reason}",
            advice="begin again with the same command",
        )


def _show_code(deps: Deps, shown: dict[str, Any], *, as_json: bool) -> None:
    to = deps.err if as_json else deps.out
    to.print(f"Open [bold]{escape(shown['verification_uri'])}[/]", highlight=False)
    to.print(f"and type [bold]{escape(shown['user_code'])}[/]", highlight=False)
    if shown["verification_uri_complete"]:
        address = escape(shown["verification_uri_complete"])
        to.print(f"or open {address}", highlight=False, soft_wrap=True)


def _awaited(deps: Deps, path: str, shown: dict[str, Any]) -> dict[str, Any]:
    with deps.err.status("waiting …") as line:
        while shown["state"] == "pending":
            minutes, seconds = divmod(shown["seconds_left"], 60)
            line.update(f"waiting for a yes, {minutes}:{seconds:02d} left")
            deps.sleep(shown["ask_again_in"])
            shown = deps.client.post(f"{path}/sign-in/poll", {})
    return shown
