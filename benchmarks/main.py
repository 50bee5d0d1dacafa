"""`cairn bench locomo FILE...`: reads the options, builds the benchmark, shows what it found."""

from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import NO_ENVIRONMENT
from cairn.cli.options import Json, deps_of, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from uuid import UUID

    from rich.console import Console

    from benchmarks.api import TimedApi
    from benchmarks.clients import Key
    from benchmarks.locomo.judged import ModelJudge
    from benchmarks.locomo.run import Bench
    from cairn.cli.deps import Deps
    from cairn.embedding.onnx import OnnxEmbedder

MOST_CLIENTS = 1000
JudgeOption = Annotated[
    bool, typer.Option("--judge", help="Let a chat model answer from what is found, and judge.")
]


class Grain(StrEnum):
    """What of a history counts as found."""

    SESSION = "session"
    TURN = "turn"


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure recall quality and speed through the HTTP API.",
)


@app.callback()
def bench() -> None:
    """Keep `locomo` a command of its own, so that others can stand beside it."""


@app.command()
def locomo(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="LoCoMo conversations.")],
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Ask again with each signal and leg off in turn.")
    ] = False,
    leave_one_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-out", help="Rank each conversation with weights chosen on the others."
        ),
    ] = False,
    fit: Annotated[
        bool,
        typer.Option("--fit", help="The same with fitted weights; print those of all, too."),
    ] = False,
    routes: Annotated[
        bool, typer.Option("--routes", help="Ask again with routing on; recall by class.")
    ] = False,
    adversarial: Annotated[
        bool, typer.Option("--adversarial", help="Ask what nothing answers, too.")
    ] = False,
    elsewhere: Annotated[
        Path | None,
        typer.Option(
            "--elsewhere",
            exists=True,
            dir_okay=False,
            help="Questions of another domain, one a line; ours without.",
        ),
    ] = None,
    via: Annotated[
        str, typer.Option(help="How turns come in: memories, or said in conversations.")
    ] = "memories",
    judge: JudgeOption = False,
    json: Json = False,
) -> None:
    """Load conversations into workspaces of their own, ask their questions, report.

    Needs the owner's database URL (new workspaces) and the functions' (the floor).
    """
    from benchmarks.locomo.adversarial import another_domain, refuse_one
    from benchmarks.locomo.corpus import read_conversation
    from benchmarks.locomo.folds import refuse_too_few
    from benchmarks.locomo.show import show

    deps = deps_of(ctx)
    conversations = [read_conversation(path) for path in files]
    if leave_one_out or fit:
        refuse_too_few(conversations)
    if adversarial:
        refuse_one(conversations)
    measured = _bench(deps, via, judge=judge).run(
        conversations,
        ablate=ablate,
        leave_out=leave_one_out,
        fit=fit,
        routes=routes,
        adversarial=another_domain(elsewhere) if adversarial else (),
    )
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)


@app.command()
def compaction(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="LoCoMo conversations.")],
    method: Annotated[
        str | None, typer.Option(help="model or rules; a model where one is configured.")
    ] = None,
    json: Json = False,
) -> None:
    """Make conversations shorter, and ask what is still answered from what is left and by recall.

    Needs the owner's database URL (new workspaces).
    """
    from benchmarks.compaction.run import Bench as CompactionBench
    from benchmarks.locomo.corpus import read_conversation
    from benchmarks.show import show_values

    deps = deps_of(ctx)
    bench = CompactionBench(
        open_workspace=_workspaces(deps),
        progress=_progress(deps.err),
        stopwatch=deps.stopwatch,
        sleep=deps.sleep,
        method=method,
    )
    measured = bench.run([read_conversation(path) for path in files])
    if json:
        print_json(measured)
    else:
        show_values(deps.out, {**measured, **measured.pop("shares")})


@app.command()
def longmemeval(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="LongMemEval questions.")],
    grain: Annotated[
        Grain, typer.Option(help="What counts: a message of an answer's session, or the message.")
    ] = Grain.SESSION,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many of them.")
    ] = None,
    judge: JudgeOption = False,
    json: Json = False,
) -> None:
    """Load each question's history into a workspace of its own, ask it, report by type.

    Needs what `locomo` needs. A history of the file's small form has some 500 messages.
    """
    from benchmarks.locomo.show import show
    from benchmarks.longmemeval import read_histories

    deps = deps_of(ctx)
    measured = _bench(deps, judge=judge).run(read_histories(file, grain=grain, limit=questions))
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)


@app.command()
def peers(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="LoCoMo conversations.")],
    json: Json = False,
) -> None:
    """Ask the same questions of other memories in this process: BM25, LangGraph's store, mem0.

    Those whose packages are installed here; all with Cairn's embedder, none with a model.
    """
    from benchmarks.locomo.corpus import read_conversation
    from benchmarks.peers import measured, show

    deps = deps_of(ctx)
    conversations = [read_conversation(path) for path in files]
    found = measured(conversations, _embedder(deps), deps.stopwatch, _progress(deps.err))
    if json:
        print_json(found)
    else:
        show(deps.out, found)


@app.command()
def documents(
    ctx: typer.Context,
    questions: Annotated[Path, typer.Argument(help="A JSON list: query, relevant (ids).")],
    files: Annotated[
        Path, typer.Argument(metavar="DOCUMENTS", help="A JSON object a line: id, title, text.")
    ],
    recipe: Annotated[str | None, typer.Option(help="How to rank; the default without.")] = None,
    off: Annotated[
        list[str] | None, typer.Option("--off", help="A stage to leave out; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Ingest documents into a workspace of their own, ask the questions, report.

    A document ranks where its best part does; any document that a question names is as relevant as
    another.
    """
    from benchmarks.documents.run import DocumentsBench, read_documents, read_questions
    from benchmarks.show import show_values

    deps = deps_of(ctx)
    asked, texts = read_questions(questions), read_documents(files)
    if not asked or not texts:
        raise Failure("There is nothing to ask, or nothing to ingest.")
    _, api = _workspaces(deps)("documents")
    bench = DocumentsBench(
        api=api, progress=_progress(deps.err), stopwatch=deps.stopwatch, sleep=deps.sleep
    )
    measured = bench.run(asked, texts, recipe=recipe, off=off or [])
    if json:
        print_json(measured)
    else:
        show_values(deps.out, measured)


@app.command()
def calibrate(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="LoCoMo conversations.")],
    svg: Annotated[
        Path | None, typer.Option(help="Draw the reliability plot to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Fit the constants of relevance for the embedder that runs; print how honest they are.

    Two conversations or more. The constants go into the setting `recall.calibration`.
    """
    from benchmarks.locomo.adversarial import another_domain, refuse_one
    from benchmarks.locomo.calibration import calibrate, drawing
    from benchmarks.locomo.corpus import read_conversation
    from benchmarks.locomo.show import show_fit

    deps = deps_of(ctx)
    conversations = [read_conversation(path) for path in files]
    refuse_one(conversations)
    model, asked = _bench(deps).candidates(conversations, another_domain())
    fit = calibrate(asked)
    if svg is not None:
        title = f"{model}: {len(asked):,} searches, each conversation left out of its fit"
        svg.write_text(drawing(fit.bins, title), encoding="utf-8")
    if json:
        print_json(
            {"constants": fit.constants(model), "reliability": [asdict(b) for b in fit.bins]}
        )
    else:
        show_fit(deps.out, fit, model)


@app.command()
def scale(
    ctx: typer.Context,
    rows: Annotated[
        str, typer.Option(help="How many rows, ascending; a database of its own for each.")
    ] = "10000,100000",
    questions: Annotated[int, typer.Option(min=10, max=1000, help="Asked a workspace.")] = 100,
    json: Json = False,
) -> None:
    """Measure the legs and the whole as a database grows, in a large and a small workspace.

    Makes a database beside Cairn's own on the same server and drops it afterwards.
    """
    from benchmarks.scale.command import scale_bench, show, sizes_of

    deps = deps_of(ctx)
    sizes = sizes_of(rows)
    bench = scale_bench(deps, _embedder(deps), _progress(deps.err))
    measured = bench.run(sizes, asked=questions)
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)


@app.command()
def intents(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Events and queries; the shipped ones without.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare intent-weighted walks, PageRank and plain search on what agents did."""
    from benchmarks.intents.corpus import read_events
    from benchmarks.intents.run import IntentsBench
    from benchmarks.intents.show import show
    from benchmarks.samples import SAMPLES

    deps = deps_of(ctx)
    bench = IntentsBench(
        open_workspace=_workspaces(deps),
        progress=_progress(deps.err),
        stopwatch=deps.stopwatch,
        sleep=deps.sleep,
    )
    measured = bench.run(read_events(file or SAMPLES / "agent-events.json"))
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)


def _cases(
    deps: "Deps",
    intents: Path | None,
    reconcile: Path | None,
    indexer: Path | None,
    negotiation: Path | None,
) -> dict[str, Any]:
    """Return how well the cases of these files are read, reconciled, assigned and negotiated."""
    from benchmarks.discovery.indexer import IndexerBench
    from benchmarks.discovery.negotiation import NegotiationBench
    from benchmarks.discovery.statements import StatementsBench, read_cases
    from cairn.kernel.clock import utc_now

    workspaces, progress = _workspaces(deps), _progress(deps.err)
    bench = StatementsBench(open_workspace=workspaces, progress=progress)
    measured: dict[str, Any] = {}
    if intents is not None:
        measured["statements"] = bench.intents(read_cases(intents))
    if reconcile is not None:
        measured["reconcile"] = bench.reconcile(read_cases(reconcile))
    if indexer is not None:
        belonging = IndexerBench(open_workspace=workspaces, progress=progress)
        measured["indexer"] = belonging.run(read_cases(indexer))
    if negotiation is not None:
        talks = NegotiationBench(
            open_workspace=workspaces,
            progress=progress,
            stopwatch=deps.stopwatch,
            sleep=deps.sleep,
            clock=utc_now,
        )
        measured["negotiation"] = talks.run(read_cases(negotiation))
    return measured


@app.command()
def discovery(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Written networks.")
    ] = None,
    statements: Annotated[
        Path | None, typer.Option("--intents", help="Words, and the intents that they are.")
    ] = None,
    reconcile: Annotated[
        Path | None, typer.Option(help="Words, and what they change of open intents.")
    ] = None,
    indexer: Annotated[
        Path | None, typer.Option(help="Intents, and whether they belong to a network.")
    ] = None,
    negotiation: Annotated[
        Path | None, typer.Option(help="Negotiations, how they end, and what stays private.")
    ] = None,
    lenses: Annotated[
        bool, typer.Option("--lenses", help="Look through hypothetical documents, too.")
    ] = False,
    json: Json = False,
) -> None:
    """Load written networks, discover for each intent that has a pair, compare with simpler ways.

    Needs the owner's database URL (new workspaces) and the model's folder (the simpler ways).
    """
    from benchmarks.discovery.corpus import read_network
    from benchmarks.discovery.network import DiscoveryBench
    from benchmarks.discovery.show import show

    deps = deps_of(ctx)
    answer = _cases(deps, statements, reconcile, indexer, negotiation)
    if files:
        corpora = [(path.name, read_network(path)) for path in files]
        measure = DiscoveryBench(
            open_workspace=_workspaces(deps),
            embedder=_embedder(deps),
            progress=_progress(deps.err),
            stopwatch=deps.stopwatch,
            sleep=deps.sleep,
        )
        measured = {name: measure.run(corpus, lenses=lenses) for name, corpus in corpora}
        first = next(iter(measured.values()))
        answer |= first if len(measured) == 1 else {"files": measured}
        if not json:
            show(deps.out, measured)
    if json:
        print_json(answer)
    else:
        for name in ("statements", "reconcile", "indexer", "negotiation"):
            if isinstance(answer.get(name), dict):
                deps.out.print(f"{name}: {answer[name]}", highlight=False)


@app.command("discovery-scale")
def discovery_scale(
    ctx: typer.Context,
    members: Annotated[
        str, typer.Option(help="How many members, ascending; a workspace for each.")
    ] = "1000,100000",
    questions: Annotated[int, typer.Option(min=5, max=1000, help="Asked of each.")] = 40,
    json: Json = False,
) -> None:
    """Measure what one discovery costs as a community grows, beside one search.

    Makes a database beside Cairn's own on the same server and drops it afterwards. Exit code 1
    when the largest costs more than 1.5 of the smallest, or a discovery more than 4 searches.
    """
    from benchmarks.discovery.scale import show
    from benchmarks.discovery.scale_command import discovery_scale_bench
    from benchmarks.scale.command import sizes_of

    deps = deps_of(ctx)
    bench = discovery_scale_bench(deps, _embedder(deps), _progress(deps.err))
    measured = bench.run(sizes_of(members, option="--members"), asked=questions)
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)
    if not measured["within_limits"]:
        raise typer.Exit(1)


@app.command()
def consolidation(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="The shipped pairs without.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what the rules of consolidation make of labelled pairs of memories.

    Needs the embedding model only. Exit code 1 when the first file does not reach what is asked.
    """
    from benchmarks.consolidation.corpus import read_pairs
    from benchmarks.consolidation.run import ConsolidationBench, meets
    from benchmarks.consolidation.show import show
    from benchmarks.samples import SAMPLES

    deps = deps_of(ctx)
    folder = SAMPLES / "consolidation"
    chosen = files or [folder / "pairs.json", folder / "held-back.json"]
    pairs = {path.stem: read_pairs(path) for path in chosen}
    bench = ConsolidationBench(embedder=_embedder(deps))
    measured = {name: bench.run(one) for name, one in pairs.items()}
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)
    if not meets(next(iter(measured.values()))):
        raise typer.Exit(1)


@app.command()
def tickets(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="The shipped tickets without.")
    ] = None,
    json: Json = False,
) -> None:
    """Work made-up tickets by the real loop over real connectors; verdicts, safety, citations.

    Asks the chat models of the environment, rules without any. Makes two databases on the
    configured server and drops them afterwards. Exit code 1 when anything was written that was not
    to be.
    """
    from benchmarks.samples import SAMPLES
    from benchmarks.tickets.command import measured_tickets
    from benchmarks.tickets.show import show

    deps = deps_of(ctx)
    folder = SAMPLES / "tickets"
    chosen = files or [folder / "tuning.json", folder / "held-back.json"]
    measured = measured_tickets(deps, _embedder(deps), _progress(deps.err), chosen)
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)
    if any(found["forbidden_writes"] for found in measured["sets"].values()):
        raise typer.Exit(1)


@app.command()
def screening(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Labelled messages; the samples' own.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure how well the patterns tell orders to an assistant from other messages.

    Reads a file of labelled messages and asks nobody.
    """
    from benchmarks.samples import SAMPLES
    from benchmarks.screening import measured, show

    found = measured(file or SAMPLES / "screening" / "messages.json")
    if json:
        print_json(found)
    else:
        show(deps_of(ctx).out, found)


@app.command()
def extraction(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Labelled turns, a JSON object a line; the samples' own.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what the rules draw from labelled turns of talk, and what they should not.

    Reads a file of labelled turns and asks nobody.
    """
    from benchmarks.extraction import measured, show
    from benchmarks.samples import SAMPLES

    folder = SAMPLES / "extraction"
    found = measured([file] if file else [folder / "tuned.jsonl", folder / "held-back.jsonl"])
    if json:
        print_json(found)
    else:
        show(deps_of(ctx).out, found)


@app.command()
def entities(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="Labelled texts, a JSON object a line; the samples' own.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure which names the rules find in labelled texts, and how many of them are junk.

    Reads a file of labelled texts and asks nobody.
    """
    from benchmarks.entities import measured, show
    from benchmarks.samples import SAMPLES

    folder = SAMPLES / "entities"
    found = measured([file] if file else [folder / "tuned.jsonl", folder / "held-back.jsonl"])
    if json:
        print_json(found)
    else:
        show(deps_of(ctx).out, found)


@app.command()
def languages(ctx: typer.Context, json: Json = False) -> None:
    """Measure what questions in German, French, Spanish and Japanese find by their words alone.

    Remembers texts of all four in one workspace of its own.
    """
    from benchmarks.languages import measured, read_samples
    from benchmarks.samples import SAMPLES
    from benchmarks.show import show_values

    deps = deps_of(ctx)
    _, api = _workspaces(deps)("languages")
    found = measured(api, read_samples(SAMPLES / "languages"), deps.sleep)
    if json:
        print_json(found)
    else:
        show_values(deps.out, found)


@app.command()
def orchestration(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=200, help="The newest so many.")] = 50,
    json: Json = False,
) -> None:
    """Measure what the machine adds to a loop of an investigation beside models, search and tools.

    Reads the timelines of the workspace's newest investigations that ended. Runs none. Exit code 1
    when the median is above 150 ms.
    """
    from benchmarks.orchestration import MOST_MS, measured

    deps = deps_of(ctx)
    found = measured(deps.client, limit)
    if json:
        print_json(found)
    elif found["p50_ms"] is None:
        deps.out.print("No investigation of this workspace has ended a loop yet.")
    else:
        deps.out.print(
            f"{found['loops']} loops of {found['investigations']} investigations: "
            f"{found['p50_ms']:.0f} ms p50, {found['p95_ms']:.0f} ms p95 beside the work"
        )
    if (found["p50_ms"] or 0) > MOST_MS:
        raise typer.Exit(1)


@app.command()
def rebuild(
    ctx: typer.Context,
    entries: Annotated[int, typer.Option(min=100, max=1_000_000, help="Memories.")] = 5_000,
    json: Json = False,
) -> None:
    """Measure how many ledger entries a second a rebuild replays, with cached vectors.

    Makes a database beside Cairn's own on the same server and drops it afterwards.
    """
    from benchmarks.rebuild import RebuildBench

    deps = deps_of(ctx)
    owner_url, app_url = deps.owner_url, deps.settings.app_database_url
    if not owner_url or app_url is None:
        raise Failure("The benchmark makes a database of its own.", advice=NO_ENVIRONMENT)
    with deps.err.status("remembering …") as line:
        found = RebuildBench(
            owner_url=owner_url,
            app_url=app_url.get_secret_value(),
            stopwatch=deps.stopwatch,
            progress=line.update,
        )(entries)
    if json:
        print_json(found)
        return
    deps.out.print(
        f"{found['entries']} entries to {found['rows']} rows: replayed in {found['replay_s']:.1f} "
        f"s, compared and put in place in {found['finish_s']:.1f} s; "
        f"{found['entries_per_s']:.0f} entries a second, equal: {found['equal']}"
    )


@app.command("consolidation-scale")
def consolidation_scale(
    ctx: typer.Context,
    rows: Annotated[int, typer.Option(min=100, max=1_000_000, help="Memories.")] = 10_000,
    json: Json = False,
) -> None:
    """Measure how long rules take over one workspace, and whether memory stays flat.

    Makes a database beside Cairn's own on the same server and drops it afterwards. Exit code 1
    when 10,000 memories would take more than five minutes.
    """
    from benchmarks.consolidation.scale import ConsolidationScale, show

    deps = deps_of(ctx)
    owner_url, app_url = deps.owner_url, deps.settings.app_database_url
    if not owner_url or app_url is None:
        raise Failure("The benchmark makes a database of its own.", advice=NO_ENVIRONMENT)
    bench = ConsolidationScale(
        owner_url=owner_url,
        app_url=app_url.get_secret_value(),
        embedder=_embedder(deps),
        open_workspace=deps.load_operator().create_workspace,
        progress=_progress(deps.err),
        stopwatch=deps.stopwatch,
    )
    measured = bench.run(rows)
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)
    if not measured["within_limit"]:
        raise typer.Exit(1)


@app.command()
def load(
    ctx: typer.Context,
    clients: Annotated[str, typer.Option(help="How many at once, separated by commas.")] = (
        "1,4,16,64"
    ),
    requests: Annotated[str, typer.Option(help="Of reads, writes, mixed.")] = "reads,writes,mixed",
    seconds: Annotated[float, typer.Option(min=0.5, max=600, help="Of each measurement.")] = 5.0,
    json: Json = False,
) -> None:
    """Measure searches and writes of many clients at once, through the HTTP API.

    One workspace of its own; mixed is one write in five. Exit code 1 when a request failed.
    """
    from benchmarks.load import MODES, LoadBench, show

    deps = deps_of(ctx)
    modes, numbers = _some(requests, MODES), _numbers(clients, least=1)
    with deps.err.status("remembering …") as line:
        key, api, run_id = _tenant(deps, "load")
        bench = LoadBench(
            key=key,
            api=api,
            stopwatch=deps.stopwatch,
            sleep=deps.sleep,
            progress=line.update,
            run_id=run_id,
        )
        measured = bench.run(modes, numbers, seconds)
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)
    if any(item["failures"] for found in measured.values() for item in found.values()):
        raise typer.Exit(1)


@app.command()
def fairness(
    ctx: typer.Context,
    greedy: Annotated[str, typer.Option(help="Connections of the greedy tenant.")] = "0,4,40",
    seconds: Annotated[float, typer.Option(min=0.5, max=600, help="Of each measurement.")] = 10.0,
    json: Json = False,
) -> None:
    """Measure what a quiet tenant notices of one that sends batches of 500 without a pause.

    Two workspaces of its own. Exit code 1 when a request of the quiet one failed.
    """
    from benchmarks.fairness import FairnessBench, show

    deps = deps_of(ctx)
    with deps.err.status("remembering …") as line:
        key, api, run_id = _tenant(deps, "quiet")
        bench = FairnessBench(
            quiet=key,
            greedy=_tenant(deps, "greedy")[0],
            api=api,
            stopwatch=deps.stopwatch,
            sleep=deps.sleep,
            progress=line.update,
            run_id=run_id,
        )
        measured = bench.run(_numbers(greedy, least=0), seconds)
    if json:
        print_json(measured)
    else:
        show(deps.out, measured)
    if any(found["quiet"]["failures"] for found in measured.values()):
        raise typer.Exit(1)


def _some(text: str, known: "Sequence[str]") -> list[str]:
    found = [part.strip() for part in text.split(",")]
    for item in found:
        if item not in known:
            raise typer.BadParameter(f"{item!r} is none of {', '.join(known)}")
    return found


def _numbers(text: str, *, least: int) -> list[int]:
    found = [part.strip() for part in text.split(",")]
    for item in found:
        if not (item.isascii() and item.isdecimal() and least <= int(item) <= MOST_CLIENTS):
            raise typer.BadParameter(f"{item!r} is no number from {least} to {MOST_CLIENTS}")
    return [int(item) for item in found]


def _tenant(deps: "Deps", name: str) -> "tuple[Key, TimedApi, str]":
    """Return the key of a workspace made for this run, its API, and what is the run's own."""
    import httpx

    from benchmarks.api import TimedApi
    from benchmarks.clients import Key
    from cairn.kernel.ids import new_id

    url, owner_url = deps.settings.url, deps.owner_url
    if not url or not owner_url:
        raise Failure("The benchmark makes its own workspaces.", advice=NO_ENVIRONMENT)
    run_id = new_id().hex
    _, key = deps.load_operator().create_workspace(owner_url, f"bench-{run_id[:12]}-{name}")
    headers = {"authorization": f"Bearer {key}"}
    http = httpx.Client(base_url=url, headers=headers, timeout=120.0, transport=deps.transport)
    api = TimedApi(http, sleep=deps.sleep, stopwatch=deps.stopwatch)
    return Key(url=url, key=key), api, run_id


def _judge(deps: "Deps", app_url: str) -> "ModelJudge":
    """Return a judge by the models of the environment; Failure when there are none."""
    from benchmarks.locomo.judged import ModelJudge
    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.models import gateway
    from cairn.settings import ModelSettings

    models = gateway(ModelSettings.read(), Database(app_url))
    if models is None:
        raise Failure(
            "A judge needs a chat model.", advice="set ANTHROPIC_API_KEY or CAIRN_CHAT_MODEL"
        )
    return ModelJudge(models)


def _bench(deps: "Deps", via: str = "memories", *, judge: bool = False) -> "Bench":
    from benchmarks.floor import Floor
    from benchmarks.locomo.run import Bench, Via
    from cairn.adapters.postgres.database import Database
    from cairn.kernel.clock import utc_now

    app_url = deps.settings.app_database_url
    if app_url is None:
        raise Failure("There is no CAIRN_APP_DATABASE_URL.", advice=NO_ENVIRONMENT)
    if via not in tuple(Via):
        raise Failure(f"--via is one of {', '.join(Via)}, not {via}.")
    embedder = _embedder(deps)
    return Bench(
        via=Via(via),
        judge=_judge(deps, app_url.get_secret_value()) if judge else None,
        open_workspace=_workspaces(deps),
        embedder=embedder,
        floor=Floor(
            embedder=embedder,
            database=Database(app_url.get_secret_value()),
            stopwatch=deps.stopwatch,
        ),
        progress=_progress(deps.err),
        clock=utc_now,
        stopwatch=deps.stopwatch,
        sleep=deps.sleep,
    )


def _embedder(deps: "Deps") -> "OnnxEmbedder":
    from cairn.embedding.onnx import OnnxEmbedder

    if deps.settings.model_dir is None:
        raise Failure("There is no CAIRN_MODEL_DIR.", advice=NO_ENVIRONMENT)
    embedder = OnnxEmbedder(deps.settings.model_dir)
    embedder.load()
    return embedder


def _workspaces(deps: "Deps") -> "Callable[[str], tuple[UUID, TimedApi]]":
    """Return what makes a workspace a conversation and opens the API with its key."""
    import httpx

    from benchmarks.api import TimedApi
    from cairn.kernel.ids import new_id

    url, owner_url = deps.settings.url, deps.owner_url
    if not url or not owner_url:
        raise Failure("The benchmark makes its own workspaces.", advice=NO_ENVIRONMENT)
    operator, run = deps.load_operator(), new_id().hex[:12]

    def open_workspace(name: str) -> "tuple[UUID, TimedApi]":
        workspace_id, key = operator.create_workspace(owner_url, f"bench-{run}-{name}")
        http = httpx.Client(
            base_url=url,
            headers={"authorization": f"Bearer {key}"},
            timeout=120.0,
            transport=deps.transport,
        )
        return workspace_id, TimedApi(http, sleep=deps.sleep, stopwatch=deps.stopwatch)

    return open_workspace


def _progress(console: "Console") -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    @contextmanager
    def stage(name: str, total: int) -> "Generator[Callable[[int], None]]":
        columns = (
            TextColumn(f"{name:<18}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(name, total=total)
            yield lambda steps: bar.advance(task, steps)

    return stage
