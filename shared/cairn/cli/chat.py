"""`cairn chat`: talk to an agent that remembers; one message, or until an empty line."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Client, Json, deps_of, escape, print_json, without_none
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cairn.cli.deps import Deps

POLL_SECONDS = 0.3


def chat(
    ctx: typer.Context,
    message: Annotated[str | None, typer.Argument(help="What to say; none: talk.")] = None,
    session: Annotated[str | None, typer.Option(help="The session to go on with.")] = None,
    client: Client = None,
    suggest: Annotated[bool, typer.Option("--suggest", help="Suggest what to ask next.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm what waits without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Talk to an agent that remembers; it asks before it changes or deletes anything."""
    deps = deps_of(ctx)
    body = {"session_id": session or f"cli-{new_id()}", "client_id": client}
    body = without_none({**body, "suggest": suggest or None})
    if message is not None:
        return _say(deps, {**body, "message": message}, yes=yes, as_json=as_json)
    deps.out.print("[dim]An empty line ends it.[/]")
    while line := _line():
        with suppress(KeyboardInterrupt):  # of the answer, not of the talk
            _say(deps, {**body, "message": line}, yes=yes, as_json=as_json)
    return None


def _say(deps: Deps, body: Mapping[str, Any], *, yes: bool, as_json: bool) -> None:
    """Say one thing, and settle what waits for a yes."""
    turn_id = str(new_id())
    request = {**body, "turn_id": turn_id}
    shown = None if as_json else _TurnDisplay(deps)
    try:
        for name, data in _events(deps, request, turn_id):
            if shown is not None:
                shown.take(name, data)
    except KeyboardInterrupt:
        _stop(deps, turn_id)
        raise
    turn = deps.client.get(f"/v1/chat/{turn_id}")
    if shown is not None:
        shown.end(turn)
    for action in turn["actions"]:
        _settle(deps, action, yes=yes, ask=not as_json)
    if as_json:
        print_json(deps.client.get(f"/v1/chat/{turn_id}"))


def _stop(deps: Deps, turn_id: str) -> None:
    """Stop a turn on the server, which goes on without its reader; it may not have come there."""
    try:
        stopped = deps.client.post(f"/v1/chat/{turn_id}/abort", {})
    except Failure as failure:
        if failure.code != "not-found":
            raise
    else:
        deps.err.print(f"\n[yellow]{stopped['state']}[/]")


def _events(
    deps: Deps, request: Mapping[str, Any], turn_id: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the events of a turn: streamed, or polled where the door does not stream."""
    name = ""
    try:
        for line in deps.client.streamed("/v1/chat", request):
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))
    except Failure as failure:
        if failure.code != "not-streamable":
            raise
        yield from _polled(deps, request, turn_id)


def _polled(
    deps: Deps, request: Mapping[str, Any], turn_id: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    failed: list[Failure] = []

    def post() -> None:
        try:
            deps.client.post("/v1/chat", request)
        except Failure as failure:  # the door gives up sooner than the turn
            failed.append(failure)

    thread = Thread(target=post, daemon=True)
    thread.start()
    after, ended = 0, False
    while not ended:
        try:
            page = deps.client.get(f"/v1/chat/{turn_id}/chunks", after=after, limit=200)
        except Failure as failure:
            if failure.code != "not-found" or failed:
                raise (failed or [failure])[0] from None
            page = dict[str, Any](items=[], after=0, ended=False)
        for item in page["items"]:
            yield item["name"], item["data"]
        after, ended = page["after"], page["ended"]
        if not ended:
            thread.join(POLL_SECONDS)


class _TurnDisplay:
    """Draws a turn as it goes."""

    def __init__(self, deps: Deps) -> None:
        self.deps = deps
        self.text = ""

    def take(self, name: str, data: Mapping[str, Any]) -> None:
        """Draw one event."""
        if name == "text_chunk":
            self.text += data["text"]
            self.deps.out.print(data["text"], end="", markup=False, highlight=False)
        elif name == "tool_activity" and data["phase"] == "start":
            self._apart()
            self.deps.out.print(f"[dim]\u2192 {escape(data['tool'])}[/]")
        elif name == "llm_end" and data.get("retried"):
            self._apart()
            self.deps.out.print("[dim]\u2026 once more[/]")

    def end(self, turn: Mapping[str, Any]) -> None:
        """Draw what only the end of a turn says."""
        answer = turn["answer"] or ""
        if answer and not self.text.endswith(answer):
            self._apart()
            self.deps.out.print(answer, markup=False, highlight=False)
        else:
            self._apart()
        if turn["state"] in ("failed", "aborted"):
            self.deps.out.print(f"[red]{turn['state']}[/] {escape(turn['error'] or '')}")
        for each in turn["suggestions"]:
            self.deps.out.print(f"[dim]? {escape(each)}[/]")

    def _apart(self) -> None:
        if self.text and not self.text.endswith("\n"):
            self.text += "\n"
            self.deps.out.print()


def _settle(deps: Deps, action: Mapping[str, Any], *, yes: bool, ask: bool) -> None:
    """Ask the person about an action; without a terminal it goes on waiting."""
    if action["state"] != "pending":
        return
    if not yes and not (ask and sys.stdin.isatty()):
        if ask:
            name = f"{action['tool']} {action['id']}"
            deps.out.print(f"[yellow]waits for your yes until {action['expires_at']}:[/] {name}")
        return
    arguments = json.dumps(action["arguments"], ensure_ascii=False)
    confirmed = yes or typer.confirm(f"{action['tool']} {arguments}?")
    decision = {
        "decision": "confirm" if confirmed else "cancel",
        "arguments_hash": action["arguments_hash"],
    }
    done = deps.client.post(f"/v1/chat/actions/{action['id']}", decision)
    if ask:
        deps.out.print(f"[green]{done['state']}[/] {escape(done['result'] or '')}")


def _line() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""
