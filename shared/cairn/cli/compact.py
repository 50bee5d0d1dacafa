"""`cairn compact`: a transcript that grew too long, made shorter."""

import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Client, Json, Scope, deps_of, print_json, without_none


def compact(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Messages: JSON, or JSON lines.")
    ],
    session: Annotated[str, typer.Option(help="The channel's session id.")],
    tokens: Annotated[int | None, typer.Option(help="How long it may be, in tokens.")] = None,
    share: Annotated[float | None, typer.Option(help="Or as a share of the transcript.")] = None,
    method: Annotated[str | None, typer.Option(help="model or rules.")] = None,
    channel: Annotated[str, typer.Option(help="api, webchat, whatsapp, slack ...")] = "api",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the summary in the graph.")] = False,
    scope: Scope = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Record a transcript and print what an agent goes on with: a summary and the last turns."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "session_id": session,
            "messages": messages_of(file),
            "channel": channel,
            "target_tokens": tokens,
            "share": share,
            "method": method,
            "keep": keep,
            "scope": scope,
            "client_id": client,
        }
    )
    compacted = deps.client.post("/v1/context/compact", body)
    if as_json:
        return print_json(compacted)
    typer.echo(compacted["context"])
    size = compacted["tokens"]
    deps.err.print(
        f"{size['before']} tokens are {size['after']}, by {compacted['method']}; "
        f"{compacted['dropped']} turns left out, {len(compacted['stored'])} messages recorded",
        highlight=False,
    )


def messages_of(file: Path) -> list[Any]:
    """Return the messages of a file: a JSON list, an object with `messages`, or a line each."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise Failure(f"{file} cannot be read as UTF-8 text.") from exc
    try:
        document: Any = json.loads(text)
    except ValueError:
        document = _lines(file, text)
    if isinstance(document, dict):
        record = cast("dict[str, Any]", document)
        document = record.get("messages", [record])
    if not isinstance(document, list):
        raise Failure(f"{file} has no list of messages.")
    return cast("list[Any]", document)


def _lines(file: Path, text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as exc:
        raise Failure(f"{file} is neither JSON nor JSON lines: {exc}.") from exc
