"""What `cairn forget --prove` looks at with the operator's own credentials. Reads, never deletes.

Messages are received and left: each look counts as one delivery, so a few are looked at only.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.forgetting.places import OPERATOR
from cairn.forgetting.prove import Looked, Needles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cairn.cli.deps import Deps

MOST_MESSAGES = 50
MOST_EXECUTIONS = 200
MOST_LOG_BYTES = 50_000_000
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
    found: list[Looked] = []
    for (store, place), look in zip(OPERATOR, looks, strict=True):
        try:
            found.append(look(deps, needles))
        except (BotoCoreError, ClientError):
            found.append(Looked(store=store, place=place, searched=False, note=_NOT_HERE))
    return found


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
        fresh = {one["MessageId"]: one["Body"] for one in answer.get("Messages", [])}
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
        for one in answer["executions"][:left]:
            left -= 1
            yield one["executionArn"]


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
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    texts = (_tail(one) for one in files)
    return _looked("logs", "laptop files", texts, needles, f"{len(files)} files")


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_LOG_BYTES))
        return file.read().decode(errors="replace")


def _looked(store: str, place: str, texts: Iterable[str], needles: Needles, note: str) -> Looked:
    wanted = needles.folded()
    items = found = 0
    for text in texts:
        items += 1
        folded = text.lower()
        found += any(one in folded for one in wanted)
    return Looked(store=store, place=place, items=items, found=found, note=note)
