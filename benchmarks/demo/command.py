"""`cairn demo`: the whole way of real text, from remembering to being found, on a running stack."""

from pathlib import Path
from typing import Any

import typer

from benchmarks.demo.community import community, community_well, show_community
from benchmarks.demo.desk import Desk, opening, runbooks, show_tickets, went_well
from benchmarks.demo.talk import show_talk, talk, talked_well
from benchmarks.samples import Samples, read_samples, varied
from cairn.cli.consolidate import last_run, run_line, run_scheduled
from cairn.cli.deps import Deps
from cairn.cli.documents import send, show, wait_for, wait_until
from cairn.cli.embeddings import advise_reindex
from cairn.cli.memories import count, remember_all, say_counts, show_results
from cairn.cli.options import print_json
from cairn.cli.trace import draw, execution_arn, fetch
from cairn.kernel.clock import utc_now

QUESTIONS = 5
RESULTS = 3


def demo(deps: Deps, *, as_json: bool, part: str = "all") -> None:
    """Go the whole way, print it or its report; exit status 1 when something went wrong."""
    if part == "discovery":
        return _discovery(deps, as_json=as_json)
    started = deps.stopwatch()
    with opening(deps) as desk:
        report = _gone_through(deps, desk, draw=not as_json)
    report["seconds"] = round(deps.stopwatch() - started, 1)
    if as_json:
        print_json(report)
    else:
        _show_rest(deps, report)
        advise_reindex(deps)
    if not _well(report):
        raise typer.Exit(1)


def _discovery(deps: Deps, *, as_json: bool) -> None:
    """Show the community alone."""
    report = community(deps)
    print_json(report) if as_json else show_community(deps, report)
    if not community_well(report):
        raise typer.Exit(1)


def _gone_through(deps: Deps, desk: Desk | None, *, draw: bool) -> dict[str, Any]:
    """Go all the way and return what came of it.

    Tickets are filed as soon as agents find the documents; what they do is drawn last.
    """
    samples = read_samples()
    documents = [*samples.documents, *(runbooks() if desk else [])]
    results = _remember(deps, samples)
    ingestions = _ingest(deps, documents)
    if desk:
        desk.file()
    _embed(deps)
    report: dict[str, Any] = {
        "memories": count(results),
        "documents": ingestions,
        "questions": _ask(deps, samples),
        "consolidation": _consolidate(deps),
    }
    if draw:
        _show(deps, documents, report)
    report["tickets"] = desk.work(draw=draw) if desk else []
    report["chat"] = talk(deps)
    report["community"] = community(deps)
    return {**report, "ledger": deps.client.get("/v1/ledger/verify")}


def _well(report: dict[str, Any]) -> bool:
    """Return whether everything ended as it should."""
    consolidated = report["consolidation"]
    return (
        report["ledger"]["ok"]
        and all(each["status"] == "ready" for each in report["documents"])
        and (consolidated is None or consolidated["status"] == "SUCCEEDED")
        and (not report["tickets"] or went_well(report["tickets"]))
        and "rejected" not in report["memories"]
        and talked_well(report["chat"])
        and community_well(report["community"])
    )


def _remember(deps: Deps, samples: Samples) -> list[dict[str, Any]]:
    with deps.err.status(f"remembering {len(samples.memories)} messages and facts …"):
        return remember_all(deps, samples.memories)


def _ingest(deps: Deps, documents: list[Path]) -> list[dict[str, Any]]:
    """Send the sample documents through the ingestion machine and wait for them.

    Their source is named by file, not by folder, so that a moved clone ingests nothing twice.
    """
    with deps.err.status(f"sending {len(documents)} documents …"):
        accepted = [send(deps, file, {"source_uri": f"sample://{file.name}"}) for file in documents]
    return wait_for(deps, accepted)


def _embed(deps: Deps) -> None:
    """Wait until nothing of the workspace waits for its embedding."""
    left: list[int] = [0]

    def ended() -> bool:
        left[0] = deps.client.get("/v1/status")["pending_embeddings"]
        return left[0] == 0

    wait_until(deps, ended, lambda: f"{left[0]} texts wait for their embedding")


def _ask(deps: Deps, samples: Samples) -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = []
    for question in varied(samples.questions, QUESTIONS):
        found = deps.client.post("/v1/search", {"query": question.text, "limit": RESULTS})
        texts = [str(each.get("text", "")) for each in found["results"]]
        asked.append(
            {
                "query": question.text,
                "expected": question.answer,
                "answered": question.answered_by(texts),
                **found,
            }
        )
    return asked


def _consolidate(deps: Deps) -> dict[str, Any] | None:
    """Start what the schedule starts every six hours, where the machine is known; how it ended."""
    if not deps.settings.consolidation_machine_arn:
        return None
    return {**run_scheduled(deps, wait=True), "run": last_run(deps)}


def _show(deps: Deps, documents: list[Path], report: dict[str, Any]) -> None:
    deps.out.print(f"\n[bold]Remembered[/] {say_counts(report['memories'])}")
    deps.out.print("\n[bold]Ingested[/]")
    show(deps, documents, report["documents"])
    for asked in report["questions"]:
        deps.out.print(f"[bold]{asked['query']}[/]")
        show_results(deps, asked, asked["query"])
        mark = "[green]✓[/]" if asked["answered"] else "[yellow]not among the first[/]"
        deps.out.print(f"  [dim]expected:[/] {asked['expected']}  {mark}\n")


def _show_rest(deps: Deps, report: dict[str, Any]) -> None:
    show_tickets(deps, report["tickets"])
    show_community(deps, report["community"])
    deps.out.print()
    _show_ledger(deps, report["ledger"])
    _show_consolidation(deps, report["consolidation"])
    _show_trace(deps, report["documents"])
    show_talk(deps, report["chat"])
    deps.out.print(f"\n[dim]{report['seconds']} s[/]")


def _show_ledger(deps: Deps, found: dict[str, Any]) -> None:
    if found["ok"]:
        head = found["head_hash"][:16]
        deps.out.print(f"[green]✓[/] the ledger holds: {found['checked']} entries, head {head}")
    else:
        deps.out.print(f"[red]✗[/] the ledger is broken at {found['first_bad_position']}")


def _show_consolidation(deps: Deps, done: dict[str, Any] | None) -> None:
    """Draw the execution and say what the run did; the rule itself fires every six hours."""
    if done is None:
        return
    deps.out.print("\n[bold]What the schedule starts every six hours, started once now[/]")
    deps.out.print(draw(fetch(deps, done["execution"]), utc_now()))
    if done["run"]:
        deps.out.print(run_line(done["run"]))


def _show_trace(deps: Deps, ingestions: list[dict[str, Any]]) -> None:
    """Draw the execution of one document, where the machine is known."""
    if deps.settings.ingestion_machine_arn:
        deps.out.print("\n[bold]How the last document went through the ingestion machine[/]")
        arn = execution_arn(deps, ingestions[-1]["id"])
        deps.out.print(draw(fetch(deps, arn), utc_now()))
