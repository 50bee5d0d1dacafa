"""`cairn stats`, `redrive`, and webhooks both ways: what is held, what waits, who is told."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)
from cairn.kernel.clock import utc_now
from cairn.operations.sweep import Backlog
from cairn.settings.cli import CliSettings

_COUNTS = (
    ("labels", "label"),
    ("kinds", "kind of memory"),
    ("states", "state"),
    ("categories", "category"),
    ("knowledge_categories", "knowledge category"),
)
_RATES = (
    ("decayed", "facts decayed below 50 %"),
    ("junk", "junk"),
    ("duplicates", "duplicates"),
    ("contradictions", "contradictions"),
)
BAR = 30
"""Characters of the longest bar."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def stats(ctx: typer.Context, as_json: Json = False) -> None:
    """Show counts, rates of junk, duplicates and contradictions, bytes, vectors, what waits."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/stats")
    if as_json:
        return print_json(answer)
    head = answer["chain_head"]
    deps.out.print(
        f"{answer['nodes']} nodes, {answer['active_memories']} active memories; ledger at position "
        f"{head['position']}, {head['hash'][:16]}…"
    )
    _show_counts(deps, answer)
    _show_rates(deps, answer)
    _show_stored(deps, answer)
    _show_feedback(deps, answer)


def _show_counts(deps: Deps, answer: Mapping[str, Any]) -> None:
    most = max((count for name, _ in _COUNTS for count in answer[name].values()), default=1)
    shown = table("what", "value", "nodes", "")
    for name, title in _COUNTS:
        for value, count in sorted(answer[name].items(), key=lambda item: (-item[1], item[0])):
            shown.add_row(title, value, str(count), bar(count, most))
            title = ""
    deps.out.print(shown)


def _show_rates(deps: Deps, answer: Mapping[str, Any]) -> None:
    shown = table("rate", "share", "found", "of", "")
    for name, title in _RATES:
        rate = answer[name]
        of = f"{rate['of']}" if rate["exact"] else f"{rate['of']} at random"
        percent = f"{100 * rate['share']:.1f} %"
        shown.add_row(title, percent, str(rate["count"]), of, bar(rate["share"], 1))
    deps.out.print(shown)


def _show_stored(deps: Deps, answer: Mapping[str, Any]) -> None:
    shown = table("stored", "")
    for name, size in answer["storage_bytes"].items():
        shown.add_row(name.replace("_", " "), readable(size))
    for model, count in answer["vectors"].items():
        shown.add_row(f"vectors of {model}", str(count))
    for topic, count in answer["outbox"].items():
        shown.add_row(f"waiting: {topic}", str(count))
    deps.out.print(shown)


def _show_feedback(deps: Deps, answer: Mapping[str, Any]) -> None:
    if not answer["feedback"]:
        return
    shown = table("feedback: recipe", "reason", "signal", "judged", "useful", "")
    for row in answer["feedback"]:
        muted = "muted" if row["signal"] in answer["muted_signals"] else ""
        cells = (row["recipe"] or "-", row["retrieval_reason"], row["signal"] or "-")
        percent = f"{100 * row['share']:.1f} %"
        shown.add_row(*cells, str(row["judged"]), percent, muted)
    deps.out.print(shown)


def bar(value: float, most: float) -> str:
    """Return a bar as long as `value` is of `most`; what is more than nothing shows."""
    return "█" * max(1 if value else 0, round(BAR * value / most)) if most else ""


def readable(size: float) -> str:
    """Return bytes in the largest unit they reach."""
    for unit in _UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"


_BATCH = 10


def redrive(
    ctx: typer.Context,
    queue: Annotated[
        str,
        typer.Option(help="embed, webhook, ticket, escalation, source, channel, or a queue's URL."),
    ] = "embed",
    limit: Annotated[int, typer.Option(min=1, help="At most so many messages.")] = 1000,
    as_json: Json = False,
) -> None:
    """Send messages from a queue's dead letter queue back to it.

    A message is deleted from the dead letter queue only after it was sent again.
    """
    deps = deps_of(ctx)
    url = queue_urls(deps.settings).get(queue, queue)
    if not url:
        raise Failure("There is no queue to redrive.", advice="give --queue URL")
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        moved = move(deps.aws("sqs"), url, limit)
    except ClientError as exc:
        code = exc.response.get("Error", {}).get("Code", "unknown")
        raise Failure(
            f"The queue {url} refused: {code}.",
            advice="give --queue URL, from `aws sqs list-queues`",
        ) from exc
    except BotoCoreError as exc:
        raise Failure(
            f"The queue {url} cannot be reached.", advice="is the stack up? see `cairn status`"
        ) from exc
    if as_json:
        print_json({"queue": url, "redriven": moved})
    else:
        deps.out.print(f"{moved} messages are back in {url.rpartition('/')[2]}")


def queue_urls(settings: CliSettings) -> dict[str, str | None]:
    """Return the queues by name; None where the environment names none."""
    return {
        "embed": settings.embed_queue_url,
        "webhook": settings.webhook_queue_url,
        "ticket": settings.ticket_queue_url,
        "escalation": settings.escalation_queue_url,
        "source": settings.source_queue_url,
        "channel": settings.channel_queue_url,
    }


def depths(sqs: Any, url: str) -> tuple[int, int]:
    """Return how many messages wait in a queue, and how many in its dead letter queue."""
    attributes = ["ApproximateNumberOfMessages"]
    waiting, dead = (
        int(
            sqs.get_queue_attributes(QueueUrl=each, AttributeNames=attributes)["Attributes"][
                attributes[0]
            ]
        )
        for each in (url, _dead_letter_url(sqs, url))
    )
    return waiting, dead


def waiting_since(status: Mapping[str, Any]) -> Backlog:
    """Return how long the oldest text of a workspace has waited for its embedding."""
    since = status["oldest_pending_at"]
    if since is None:
        return Backlog()
    waited = utc_now() - datetime.fromisoformat(since)
    return Backlog(topic="embed", seconds=max(0, int(waited.total_seconds())))


def move(sqs: Any, url: str, limit: int) -> int:
    """Move up to `limit` messages and return how many were moved."""
    dead = _dead_letter_url(sqs, url)
    moved = 0
    while moved < limit:
        received = sqs.receive_message(
            QueueUrl=dead,
            MaxNumberOfMessages=min(_BATCH, limit - moved),
            MessageAttributeNames=["All"],
            WaitTimeSeconds=1,
        )
        messages = received.get("Messages", [])
        if not messages:
            break
        for message in messages:
            _move_one(sqs, message, source=dead, target=url)
            moved += 1
    return moved


def _move_one(sqs: Any, message: dict[str, Any], *, source: str, target: str) -> None:
    attributes = message.get("MessageAttributes", {})
    sqs.send_message(QueueUrl=target, MessageBody=message["Body"], MessageAttributes=attributes)
    sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])


def _dead_letter_url(sqs: Any, url: str) -> str:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
    policy = answer.get("Attributes", {}).get("RedrivePolicy")
    if not policy:
        raise Failure("This queue has no dead letter queue.")
    name = json.loads(policy)["deadLetterTargetArn"].rpartition(":")[2]
    return sqs.get_queue_url(QueueName=name)["QueueUrl"]


webhooks_app = typer.Typer(
    help="Webhooks: addresses that are notified of events.", no_args_is_help=True
)

_COLOURS = {"delivered": "green", "failed": "red", "waiting": "cyan"}


@webhooks_app.command()
def add(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="The address; https, except on a laptop.")],
    event: Annotated[
        list[str] | None,
        typer.Option(
            help="memory_superseded, contradiction_flagged, consolidation_done, workflow_notice; "
            "repeat. All without."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a webhook and print its secret, this once."""
    deps = deps_of(ctx)
    webhook = deps.client.post("/v1/webhooks", {"url": url, **({"events": event} if event else {})})
    if as_json:
        return print_json(webhook)
    deps.out.print(f"[green]made[/] {webhook['id']}  for {', '.join(webhook['events'])}")
    deps.out.print(f"secret: [bold]{webhook['secret']}[/]  [dim]shown this once[/]")


@webhooks_app.command("list")
def list_webhooks(ctx: typer.Context, as_json: Json = False) -> None:
    """List webhooks with their waiting and failed deliveries."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/webhooks")["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "url", "events", "waiting", "failed", "last delivered")
    for each in items:
        url = escape(each["url"]) + (" [red](gone)[/]" if each["disabled_at"] else "")
        last = (each["last_delivered_at"] or "-")[:19].replace("T", " ")
        counts = str(each["waiting"]), str(each["failed"])
        shown.add_row(each["id"], url, "\n".join(each["events"]), *counts, last)
    deps.out.print(shown)


@webhooks_app.command()
def deliveries(
    ctx: typer.Context,
    webhook: Annotated[str, typer.Argument(help="The webhook's id.")],
    as_json: Json = False,
) -> None:
    """List the newest deliveries of a webhook."""
    deps = deps_of(ctx)
    items = deps.client.get(f"/v1/webhooks/{webhook}/deliveries")["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "event", "ledger", "state", "tries", "answer")
    for each in items:
        state = f"[{_COLOURS[each['state']]}]{each['state']}[/]"
        text = str(each["status"] or "") + (f" {each['error']}" if each["error"] else "")
        position, tries = str(each["position"]), str(each["attempts"])
        shown.add_row(each["id"], each["event"], position, state, tries, text.strip())
    deps.out.print(shown)


@webhooks_app.command()
def remove(
    ctx: typer.Context,
    webhook: Annotated[str, typer.Argument(help="The webhook's id.")],
    as_json: Json = False,
) -> None:
    """Remove a webhook with its deliveries."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/webhooks/{webhook}")
    print_done(deps, gone, f"[green]removed[/] {webhook}", as_json=as_json)


incoming_app = typer.Typer(
    help="Incoming webhooks: services outside that write memories.", no_args_is_help=True
)
IncomingId = Annotated[str, typer.Argument(help="The incoming webhook's id.", metavar="ID")]


@incoming_app.command("add")
def add_incoming(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Who says what comes.")],
    client: Annotated[
        str | None, typer.Option("--client", help="Whose memories all of it are.")
    ] = None,
    scope: Annotated[str, typer.Option(help="public, shared or admin.")] = "admin",
    as_json: Json = False,
) -> None:
    """Let a service write memories, and print its secret, this once."""
    deps = deps_of(ctx)
    body = without_none({"name": name, "client_id": client, "scope": scope})
    _print_incoming(deps, deps.client.post("/v1/incoming-webhooks", body), as_json=as_json)


@incoming_app.command("list")
def list_incoming(ctx: typer.Context, as_json: Json = False) -> None:
    """List the services that may write memories."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/incoming-webhooks")["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "name", "client", "scope", "rotated", whole="id")
    for each in items:
        client, rotated = each["client_id"] or "any", moment(each["rotated_at"] or "-")
        shown.add_row(each["id"], escape(each["name"]), escape(client), each["scope"], rotated)
    deps.out.print(shown)


@incoming_app.command()
def rotate(ctx: typer.Context, webhook: IncomingId, as_json: Json = False) -> None:
    """Make a new secret and print it, this once; the one before is good for 24 hours more."""
    deps = deps_of(ctx)
    rotated = deps.client.post(f"/v1/incoming-webhooks/{webhook}/rotate", {})
    _print_incoming(deps, rotated, as_json=as_json)


@incoming_app.command("remove")
def remove_incoming(ctx: typer.Context, webhook: IncomingId, as_json: Json = False) -> None:
    """Take a service's right to write; what it wrote stays."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/incoming-webhooks/{webhook}")
    print_done(deps, gone, f"[green]removed[/] {webhook}", as_json=as_json)


def _print_incoming(deps: Deps, webhook: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(webhook)
    deps.out.print(f"[green]made[/] {webhook['id']}  deliveries go to {webhook['memories_path']}")
    deps.out.print(f"secret: [bold]{webhook['secret']}[/]  [dim]shown this once[/]")
