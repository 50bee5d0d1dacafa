"""`cairn ingest`: send files to be ingested and wait until they are searchable."""

import base64
import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Client, Json, Scope, deps_of, print_json, table, without_none

INLINE_BYTES = 2_900_000
"""What fits a request of 4 MiB as base64; larger files are uploaded."""

POLL_SECONDS = 0.5
WAIT_SECONDS = 600.0
_ENDED = frozenset({"ready", "failed"})
_MEDIA_TYPES = {".md": "text/markdown", ".py": "text/x-python"}


def ingest(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False)],
    client: Client = None,
    scope: Scope = None,
    title: Annotated[str | None, typer.Option(help="Of a single file.")] = None,
    source_uri: Annotated[str | None, typer.Option(help="Of a single file.")] = None,
    wait: Annotated[bool, typer.Option(help="Until it is searchable by vector.")] = True,
    as_json: Json = False,
) -> None:
    """Ingest files: text, Markdown, HTML, PDF or source code, up to 20 MB each."""
    if len(files) > 1 and (title or source_uri):
        raise typer.BadParameter("--title and --source-uri go with a single file.")
    deps = deps_of(ctx)
    given = without_none({"client_id": client, "scope": scope, "title": title})
    accepted = [
        send(deps, file, {**given, "source_uri": source_uri or file.resolve().as_uri()})
        for file in files
    ]
    ended = wait_for(deps, accepted) if wait else accepted
    if as_json:
        print_json({"documents": ended})
    else:
        show(deps, files, ended)
    if any(each["status"] == "failed" for each in ended):
        raise typer.Exit(1)


def send(deps: Deps, file: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Send one file, in the request or by upload, and return the API's acceptance."""
    content = file.read_bytes()
    body = without_none({**given, "media_type": media_type(file)})
    if len(content) <= INLINE_BYTES:
        body["content_base64"] = base64.b64encode(content).decode("ascii")
    else:
        ticket = deps.client.post(
            "/v1/uploads",
            without_none({"size": len(content), "media_type": body.get("media_type")}),
        )
        deps.client.put_bytes(ticket["url"], content, ticket["headers"])
        body["upload_id"] = ticket["upload_id"]
    return deps.client.post("/v1/documents", body)


def media_type(file: Path) -> str | None:
    """Return the media type a file's name says, None when it says none."""
    return _MEDIA_TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0]


def wait_for(deps: Deps, accepted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Poll the ingestions until each is ready or failed; returns their last states."""
    ids = [each["ingestion_id"] for each in accepted]
    states: dict[str, dict[str, Any]] = {}

    def ended() -> bool:
        for each in ids:
            if states.get(each, {}).get("status") not in _ENDED:
                states[each] = deps.client.get(f"/v1/ingestions/{each}")
        return all(states[each]["status"] in _ENDED for each in ids)

    def progress() -> str:
        done = sum(states[each]["status"] in _ENDED for each in ids)
        return f"{done} of {len(ids)} documents are searchable"

    wait_until(deps, ended, progress)
    return [states[each] for each in ids]


def wait_until(deps: Deps, ended: Callable[[], bool], progress: Callable[[], str]) -> None:
    """Ask until `ended`, showing `progress`; Failure after ten minutes."""
    started = deps.stopwatch()
    with deps.err.status("waiting …") as line:
        while not ended():
            if deps.stopwatch() - started > WAIT_SECONDS:
                raise Failure(
                    f"Gave up waiting: {progress()}.", advice="see what is wrong: cairn doctor"
                )
            line.update(f"{progress()} …")
            deps.sleep(POLL_SECONDS)


def show(deps: Deps, files: list[Path], states: list[dict[str, Any]]) -> None:
    """Print one line a document."""
    shown = table("document", "status", "sections", "chunks", "ingestion")
    for file, state in zip(files, states, strict=True):
        colour = {"failed": "red", "ready": "green"}.get(state["status"], "cyan")
        shown.add_row(
            file.name,
            f"[{colour}]{state['status']}[/]",
            str(state.get("sections", "-")),
            str(state.get("chunks", "-")),
            str(state.get("id") or state.get("ingestion_id")),
        )
        if state.get("error"):
            deps.err.print(f"[red]{file.name}:[/] {state['error'].get('detail', state['error'])}")
    deps.out.print(shown)
