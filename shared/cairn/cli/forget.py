"""`cairn forget`: destroy what is known of a data subject, and prove it.

The proof looks with the operator's own credentials at what the API cannot see. It reads, and never
deletes: messages are received and left, and as each look counts as a delivery, only a few are.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Json, deps_of, print_json, table
from cairn.forgetting.prove import OPERATOR, Looked, Needles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cairn.cli.deps import Deps


PARTS = 100
"""So often a forgetting that takes long is taken up again."""

Subject = Annotated[str | None, typer.Option(help="Whom: client:acme or person:ada@example.org.")]
SubjectId = Annotated[str | None, typer.Option("--subject-id", help="Whom, by the random id.")]
Source = Annotated[str | None, typer.Option(help="Which source, by its URI.")]
ReasonOption = Annotated[str, typer.Option(help="request, retention, mistake or other.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would go; change nothing.")]
Prove = Annotated[bool, typer.Option("--prove", help="Search every store, before and after.")]
Canary = Annotated[
    list[str] | None, typer.Option("--canary", help="Text that must be gone; repeat for several.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def forget(
    ctx: typer.Context,
    subject: Subject = None,
    subject_id: SubjectId = None,
    source: Source = None,
    reason: ReasonOption = "request",
    dry_run: DryRun = False,
    prove: Prove = False,
    canary: Canary = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Destroy a subject's key, purge what is stored of it everywhere, leave a tombstone.

    It cannot be undone. --prove searches every store for the name, for words that only its texts
    have and for every --canary: before, to show that the search finds them, and after. Exit status
    1 when something is found afterwards.
    """
    deps = deps_of(ctx)
    request = {**_target(subject, subject_id, source), "reason": reason}
    canaries = canary or []
    fields: dict[str, Any] = {}
    if dry_run or prove:
        body = {**request, "dry_run": True, "prove": prove, "canaries": canaries}
        fields["plan"], fields["before"], words = _planned(deps, body, needed=dry_run)
    else:
        words = canaries
    if not dry_run:
        _confirm(yes=yes)
        fields["forgotten"] = _forgotten(deps, request)
        if prove:
            fields["after"] = _proof(deps, fields["forgotten"]["id"], words)
    _show(deps, fields, as_json=as_json)
    if prove and not dry_run and not fields["after"]["clean"]:
        raise typer.Exit(1)


def _target(subject: str | None, subject_id: str | None, source: str | None) -> dict[str, Any]:
    if [subject, subject_id, source].count(None) != 2:
        raise typer.BadParameter("Give one of --subject, --subject-id and --source.")
    if subject is None:
        return {"subject_id": subject_id} if subject_id else {"source": source}
    kind, separator, name = subject.partition(":")
    if kind not in ("client", "person") or not separator or not name:
        raise typer.BadParameter("A subject is client:NAME or person:NAME.")
    return {"subject": {"kind": kind, "natural_key": name}}


def _confirm(*, yes: bool) -> None:
    if not yes and sys.stdin.isatty():
        typer.confirm("This cannot be undone. Forget?", abort=True)


def _planned(
    deps: Deps, body: dict[str, Any], *, needed: bool
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, list[str]]:
    """Return plan, proof before and the words it took.

    Of somebody forgotten before there is no plan: unless it is `needed`, the canaries do.
    """
    try:
        plan = deps.client.post("/v1/forget", body)
    except Failure:
        if needed:
            raise
        return None, None, body["canaries"]
    words = plan.pop("words", body["canaries"])
    before = plan.pop("proof", None)
    if before is not None:
        before = _with_beside(deps, before, words)
    return plan, before, words


def _forgotten(deps: Deps, request: dict[str, Any]) -> dict[str, Any]:
    """Forget, and take it up again while what remains is still being made anew."""
    with deps.err.status("forgetting …"):
        done = deps.client.post("/v1/forget", request)
        by_id = {"subject_id": done["subject_id"], "reason": request["reason"]}
        for _ in range(PARTS):
            if done["status"] == "done":
                break
            done = deps.client.post("/v1/forget", by_id)
    return done


def _proof(deps: Deps, forgetting_id: str, words: list[str]) -> dict[str, Any]:
    with deps.err.status("looking everywhere …"):
        proof = deps.client.post(f"/v1/forget/{forgetting_id}/proof", {"canaries": words})
    return _with_beside(deps, proof, words)


def _with_beside(deps: Deps, proof: dict[str, Any], words: list[str]) -> dict[str, Any]:
    beside = [asdict(item) for item in look_beside(deps, words)]
    places = [*proof["places"], *beside]
    return {**proof, "places": places, "clean": not any(place["found"] for place in places)}


def _show(deps: Deps, answer: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(answer)
    if plan := answer.get("plan"):
        counts = ", ".join(f"{count} {what}" for what, count in plan["counts"].items())
        deps.out.print(f"[bold]{plan['kind']}[/] {plan['subject_id'] or ''}: {counts}")
        if not plan["keyed"]:
            deps.out.print("[yellow]→ older bodies of this source stay readable in the ledger[/]")
    if before := answer.get("before"):
        _show_proof(deps, "before", before, only_found=True)
    if done := answer.get("forgotten"):
        when = "forgotten before" if done["already"] else done["status"]
        deps.out.print(f"forgetting {done['id']}: {when}, {done['counts'].get('node', 0)} nodes")
    if after := answer.get("after"):
        _show_proof(deps, "after", after, only_found=False)


def _show_proof(deps: Deps, when: str, proof: dict[str, Any], *, only_found: bool) -> None:
    print_places(deps, proof["places"], only_found=only_found)
    clean = "[green]nothing found[/]" if proof["clean"] else "[red]something is there[/]"
    deps.out.print(f"{when}, {proof['canaries']} strings looked for: {clean}")


def print_places(deps: Deps, places: Sequence[dict[str, Any]], *, only_found: bool) -> None:
    """Print what was looked at in each place, and in how much of it something was found."""
    shown = table("store", "place", "items", "found", "")
    for place in places:
        if only_found and not place["found"]:
            continue
        value = f"[red]{place['found']}[/]" if place["found"] else "0"
        numbers = (str(place["items"]), value) if place["searched"] else ("", "not searched")
        shown.add_row(place["store"], place["place"], *numbers, place["note"])
    deps.out.print(shown)


MOST_MESSAGES = 50
MOST_EXECUTIONS = 200
MOST_LOG_BYTES = 50_000_000
BANNER_CHARS = 1_000
OTHERS = frozenset({"aws.log", "postgres.log"})
"""Logs that begin with what a program of others says as it starts, about nobody."""
_NOT_HERE = "not reachable with these credentials"


def look_beside(deps: Deps, words: Sequence[str]) -> list[Looked]:
    """Look for the words in queues, execution histories and logs; what fails is told."""
    from botocore.exceptions import BotoCoreError, ClientError

    needles = Needles(texts=tuple(words))
    looks: Sequence[Callable[[Deps, Needles], Looked]] = (
        _messages,
        _dead_letters,
        _histories,
        _cloudwatch,
        _laptop_logs,
    )
    results: list[Looked] = []
    for (store, place), look in zip(OPERATOR, looks, strict=True):
        try:
            results.append(look(deps, needles))
        except (BotoCoreError, ClientError):
            results.append(Looked(store=store, place=place, searched=False, note=_NOT_HERE))
    return results


def _messages(deps: Deps, needles: Needles) -> Looked:
    return _queues(deps, needles, "messages", dead=False)


def _dead_letters(deps: Deps, needles: Needles) -> Looked:
    return _queues(deps, needles, "dead letters", dead=True)


def _queues(deps: Deps, needles: Needles, place: str, *, dead: bool) -> Looked:
    sqs = deps.aws("sqs")
    urls = [url for url in _queue_urls(sqs) if _is_dead(url) is dead]
    bodies = [body for url in urls for body in _bodies(sqs, url)]
    note = f"{len(urls)} queues, at most {MOST_MESSAGES} messages of each"
    return _looked("queues", place, bodies, needles, note)


def _queue_urls(sqs: Any) -> list[str]:
    pages = sqs.get_paginator("list_queues").paginate(QueueNamePrefix="cairn")
    return [url for page in pages for url in page.get("QueueUrls", [])]


def _is_dead(url: str) -> bool:
    name = url.rpartition("/")[2].lower()
    return "dlq" in name or "dead" in name


def _bodies(sqs: Any, url: str) -> list[str]:
    """Receive and leave: with no visibility timeout the messages stay where they are."""
    seen: dict[str, str] = {}
    for _ in range(MOST_MESSAGES // 10):
        answer = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0, WaitTimeSeconds=0
        )
        fresh = {item["MessageId"]: item["Body"] for item in answer.get("Messages", [])}
        if not fresh.keys() - seen.keys():
            break
        seen |= fresh
    return list(seen.values())


def _histories(deps: Deps, needles: Needles) -> Looked:
    client = deps.aws("stepfunctions")
    arns = list(_executions(client))
    texts = (str(event) for arn in arns for event in _events(client, arn))
    note = f"{len(arns)} executions"
    return _looked("step-functions", "histories", texts, needles, note)


def _executions(client: Any) -> Iterator[str]:
    left = MOST_EXECUTIONS
    for machine in client.list_state_machines()["stateMachines"]:
        if "cairn" not in machine["name"].lower():
            continue
        answer = client.list_executions(stateMachineArn=machine["stateMachineArn"], maxResults=100)
        for execution in answer["executions"][:left]:
            left -= 1
            yield execution["executionArn"]


def _events(client: Any, arn: str) -> Iterator[Any]:
    pages = client.get_paginator("get_execution_history").paginate(executionArn=arn)
    return (event for page in pages for event in page["events"])


def _cloudwatch(deps: Deps, needles: Needles) -> Looked:
    if deps.settings.aws_endpoint_url:
        return Looked(
            store="logs", place="CloudWatch", searched=False, note="a laptop has log files instead"
        )
    client = deps.aws("logs")
    groups = client.describe_log_groups(logGroupNamePattern="cairn")["logGroups"]
    hits = [
        event["message"]
        for group in groups
        for word in needles.texts
        for event in client.filter_log_events(
            logGroupName=group["logGroupName"], filterPattern=f'"{word}"', limit=10
        )["events"]
    ]
    return _looked("logs", "CloudWatch", hits, needles, f"{len(groups)} log groups")


def _laptop_logs(deps: Deps, needles: Needles) -> Looked:
    folder = Path(".local") / "logs"
    if not folder.is_dir():
        return Looked(store="logs", place="laptop files", searched=False, note="no laptop here")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = [_tail(file) for file in files]
    banners = [
        text[:BANNER_CHARS] for file, text in zip(files, texts, strict=True) if file.name in OTHERS
    ]
    banner_text = " ".join(banners).lower()
    needles = Needles(
        texts=tuple(word for word in needles.texts if word.lower() not in banner_text)
    )
    return _looked("logs", "laptop files", texts, needles, f"{len(files)} files")


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_LOG_BYTES))
        return file.read().decode(errors="replace")


def _looked(store: str, place: str, texts: Iterable[str], needles: Needles, note: str) -> Looked:
    folded_needles = needles.folded()
    items = value = 0
    for text in texts:
        items += 1
        folded = text.lower()
        value += any(item in folded for item in folded_needles)
    return Looked(store=store, place=place, items=items, found=value, note=note)
