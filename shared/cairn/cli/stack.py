"""`cairn up`, `down`, `status`, `logs`, `reset` and `doctor`: the laptop stack, and its health.

The work of the stack is in infra/local.
"""

import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from cairn.cli.client import Failure
from cairn.cli.consolidate import last_run, run_line
from cairn.cli.deps import Deps
from cairn.cli.embeddings import advise_reindex, missing_vectors
from cairn.cli.ledger import verifications
from cairn.cli.operations import depths, queue_urls, waiting_since
from cairn.cli.options import Json, deps_of, escape, print_json, table
from cairn.cli.search_index import keeper
from cairn.kernel.errors import CairnError
from cairn.operations.sweep import Backlog

T = TypeVar("T")
MOST_LINES = 1_000


def up(
    ctx: typer.Context,
    opensearch: Annotated[
        bool,
        typer.Option("--opensearch", help="Use OpenSearch for keywords; needs Java and Maven."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the laptop stack, deploy the app into it, migrate, and make the first key."""
    deps = deps_of(ctx)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        values = _started(lambda: deps.load_stack().up(opensearch=opensearch))
    if as_json:
        return print_json({"url": values.get("CAIRN_URL"), "env_file": ".local/cairn.env"})
    deps.out.print(f"[green]up[/] at {values.get('CAIRN_URL')}, key in .local/cairn.env")
    with suppress(Failure):  # the stack is up, whatever key the shell has
        advise_reindex(deps)


def down(ctx: typer.Context, as_json: Json = False) -> None:
    """Stop the laptop stack; its data stays."""
    deps = deps_of(ctx)
    stopped = deps.load_stack().down()
    if as_json:
        return print_json({"stopped": stopped})
    deps.out.print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")


def status(ctx: typer.Context, as_json: Json = False) -> None:
    """Show what runs and how much work waits; exit status 1 when a part is down."""
    deps = deps_of(ctx)
    record = deps.load_stack().status()
    running = record["state"] == "running"
    waiting = deps.client.get("/v1/status") if running else None
    last = last_run(deps) if running else None
    if as_json:
        print_json({**record, "workspace": waiting, "last_consolidation": last})
    else:
        deps.out.print(_services(record))
        if waiting:
            deps.out.print(
                f"{waiting['memories']} memories, {waiting['documents']} documents, ledger at "
                f"{waiting['ledger_position']}; {waiting['pending_embeddings']} wait for their "
                f"embedding, {waiting['failed_embeddings']} failed"
            )
            oldest = waiting_since(waiting)
            if oldest.behind:
                deps.out.print(
                    f"[yellow]the oldest of them has waited {oldest.minutes}: "
                    "cairn up starts the workers again, cairn doctor says more[/]"
                )
            deps.out.print(
                run_line(last) if last else "no consolidation yet; every six hours by itself"
            )
            advise_reindex(deps)
    if not running:
        raise typer.Exit(1)


def _services(answer: dict[str, Any]) -> Any:
    shown = table("service", "state", "pid", "where")
    for name, service in answer["services"].items():
        colour = "green" if service["state"] == "running" else "red"
        pid = str(service["pid"] or "-")
        shown.add_row(name, f"[{colour}]{service['state']}[/]", pid, str(service["where"]))
    return shown


def logs(
    ctx: typer.Context,
    service: Annotated[
        str, typer.Argument(help="postgres, aws, api or opensearch; all by default.")
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow: print new lines as they come.")
    ] = False,
    session: Annotated[
        str | None, typer.Option(help="What is logged of this session, by the API, instead.")
    ] = None,
    stream: Annotated[str, typer.Option(help="Of a session: all, errors or events.")] = "all",
    as_json: Json = False,
) -> None:
    """Print the end of the laptop's logs, or what is logged of a session: newest first."""
    if session is not None:
        _print_session(deps_of(ctx), session, stream, as_json=as_json)
        return
    try:
        for line in deps_of(ctx).load_stack().logs(service, follow=follow):
            if as_json:
                print_json({"line": line})
            else:
                typer.echo(line)
    except ValueError as exc:
        raise typer.BadParameter(str(exc)) from exc


def _print_session(deps: Deps, session: str, stream: str, *, as_json: bool) -> None:
    pages = deps.client.pages("/v1/logs", session_id=session, stream=stream, limit=200)
    lines = list(islice(pages, MOST_LINES))
    if as_json:
        print_json(lines)
        return
    shown = table("at", "of", "id", "name", "state", "ms", "error", whole="id")
    for line in lines:
        ms = "" if line["duration_ms"] is None else str(round(line["duration_ms"]))
        values = (line["source"], line["subject_id"], line["name"] or "", line["state"] or "")
        shown.add_row(line["at"], *map(escape, values), ms, escape(line["error"] or ""))
    deps.out.print(shown)


def reset(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Stop the laptop stack and delete all its data: ledger, memories, files and keys."""
    if not yes:
        typer.confirm("Delete all data of the laptop stack?", abort=True, err=True)
    deps = deps_of(ctx)
    deps.load_stack().reset()
    if as_json:
        print_json({"reset": True})
    else:
        deps.out.print("the laptop stack is gone; `make run` makes a new one")


def _started(start: Callable[[], T]) -> T:
    """Return what `start` returns; the launcher's own errors become a failure."""
    try:
        return start()
    except RuntimeError as exc:
        raise Failure(str(exc), advice="see the logs: cairn logs") from exc


NOBODY_WORKS = (
    "start the stack again: cairn up; why: cairn logs aws; on AWS look at the queues' alarms"
)
"""What to do when work waits that nobody takes."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One check. `advice` is set when it is not ok."""

    name: str
    ok: bool
    says: str
    advice: str | None = None


def doctor(ctx: typer.Context, as_json: Json = False) -> None:
    """Check the environment, the stack, the key, the queue and the ledger; say what to do."""
    deps = deps_of(ctx)
    findings: list[Finding] = []
    for finding in examine(deps):
        findings.append(finding)
        if not as_json:
            _show(deps, finding)
    ok = all(each.ok for each in findings)
    if as_json:
        print_json({"ok": ok, "checks": [asdict(each) for each in findings]})
    if not ok:
        raise typer.Exit(1)


def examine(deps: Deps) -> Iterator[Finding]:
    """Run the checks in the order in which they build on each other."""
    checks: tuple[tuple[str, Callable[[Deps], Finding]], ...] = (
        ("python", _python),
        ("environment", _environment),
        ("model", _model),
        ("stack", _stack),
        ("api", _api),
        ("key", _key),
        ("agents", _agents),
        ("embedding", _embedding),
        ("networks", _networks),
        ("discovery", _discovery),
        ("queues", _queues),
        ("vectors", _vectors),
        ("opensearch", _opensearch),
        ("state machine", _machine),
        ("ledger", _ledger),
    )
    for name, check in checks:
        try:
            yield check(deps)
        except Failure as exc:
            yield Finding(name=name, ok=False, says=exc.message, advice=exc.advice)
        except CairnError as exc:
            yield Finding(name=name, ok=False, says=exc.detail, advice="see the logs: cairn logs")


def _python(_: Deps) -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    ok = (3, 11) <= sys.version_info[:2] <= (3, 13)
    return Finding(
        name="python", ok=ok, says=version, advice=None if ok else "use Python 3.11, 3.12 or 3.13"
    )


def _environment(deps: Deps) -> Finding:
    from cairn.settings.cli import find_laptop_env

    file = find_laptop_env(Path.cwd())
    missing = [name for name in ("url", "api_key") if not getattr(deps.settings, name)]
    if missing:
        names = ", ".join(f"CAIRN_{name.upper()}" for name in missing)
        return Finding(
            name="environment", ok=False, says=f"{names} is not set", advice="make run, or set it"
        )
    if file and stat.S_IMODE(file.stat().st_mode) & 0o077:
        return Finding(
            name="environment",
            ok=False,
            says=f"{file} can be read by others",
            advice=f"chmod 600 {file}",
        )
    return Finding(name="environment", ok=True, says=str(file or "from the shell"))


def _model(deps: Deps) -> Finding:
    folder = deps.settings.model_dir
    if folder is None:
        return Finding(name="model", ok=True, says="not needed here: no CAIRN_MODEL_DIR")
    missing = [name for name in ("model.onnx", "tokenizer.json") if not (folder / name).is_file()]
    if missing:
        says = f"{', '.join(missing)} is missing in {folder}"
        return Finding(name="model", ok=False, says=says, advice="fetch it: make run")
    return Finding(name="model", ok=True, says=str(folder))


def _stack(deps: Deps) -> Finding:
    if not deps.settings.aws_endpoint_url:
        return Finding(name="stack", ok=True, says="not on this machine")
    record = deps.load_stack().status()
    down = [name for name, each in record["services"].items() if each["state"] != "running"]
    if down:
        says = f"{', '.join(down)} is not running"
        return Finding(name="stack", ok=False, says=says, advice="cairn up; why: cairn logs")
    return Finding(name="stack", ok=True, says=", ".join(record["services"]))


def _api(deps: Deps) -> Finding:
    ready = deps.client.get("/readyz")
    backlog = Backlog(seconds=ready["oldest_waiting_seconds"])
    says = f"{deps.client.url} is {ready['status']}"
    if not backlog.behind:
        return Finding(name="api", ok=ready["status"] == "ready", says=says)
    says += f": the oldest work has waited {backlog.minutes}"
    return Finding(name="api", ok=False, says=says, advice=NOBODY_WORKS)


def _key(deps: Deps) -> Finding:
    answer = deps.client.get("/v1/whoami")
    says = f"{answer['role']} of workspace {answer['workspace_id']}"
    return Finding(name="key", ok=True, says=says)


def _agents(deps: Deps) -> Finding:
    if deps.client.get("/v1/whoami")["role"] != "admin":
        return Finding(name="agents", ok=True, says="only an admin's key may list them")
    answer = deps.client.get("/v1/agents")
    listed, registered = (answer["coverage"][name] for name in ("listed", "registered"))
    drifted = [each["slug"] for each in answer["items"] if each["disabled"] == "tool-drift"]
    says = f"{len(answer['items'])} registered; tools: listed {listed}, registered {registered}"
    if listed == registered and not drifted:
        return Finding(name="agents", ok=True, says=says)
    if drifted:
        says += f"; disabled, since their lists name what is no tool: {', '.join(drifted)}"
    advice = (
        "cairn agents set SLUG --tool NAME with tools that exist, then cairn agents enable SLUG"
    )
    return Finding(name="agents", ok=False, says=says, advice=advice)


def _embedding(deps: Deps) -> Finding:
    answer = deps.client.get("/v1/status")
    oldest = waiting_since(answer)
    says = f"{answer['pending_embeddings']} wait, {answer['failed_embeddings']} failed"
    if oldest.seconds:
        says += f"; the oldest waits {oldest.minutes}"
    advice = NOBODY_WORKS if oldest.behind else None
    if answer["failed_embeddings"]:
        advice = "send them again: cairn redrive; why: cairn logs aws"
    return Finding(name="embedding", ok=advice is None, says=says, advice=advice)


def _networks(deps: Deps) -> Finding:
    stray = deps.client.get("/v1/status")["intents_in_no_network"]
    if not stray:
        return Finding(name="networks", ok=True, says="every active intent belongs to one")
    says = f"{stray} active intents belong to no network: nobody finds them"
    advice = "cairn network assign INTENT, or let their members join a network"
    return Finding(name="networks", ok=False, says=says, advice=advice)


def _discovery(deps: Deps) -> Finding:
    failing = deps.client.get("/v1/status")["failing_discovery"]
    if not failing:
        return Finding(name="discovery", ok=True, says="nothing fails again and again")
    says = f"{failing} intents, opportunities and negotiations fail again and again"
    advice = "why: cairn logs aws; once it is mended: cairn feed maintain"
    return Finding(name="discovery", ok=False, says=says, advice=advice)


def _queues(deps: Deps) -> Finding:
    from botocore.exceptions import BotoCoreError, ClientError

    urls = {name: url for name, url in queue_urls(deps.settings).items() if url}
    if not urls:
        return Finding(name="queues", ok=True, says="not known here")
    try:
        waiting = {name: depths(deps.aws("sqs"), url) for name, url in urls.items()}
    except (BotoCoreError, ClientError) as exc:
        return Finding(name="queues", ok=False, says=str(exc), advice="deploy again: cairn up")
    says = ", ".join(f"{name} {depth}" for name, (depth, _) in waiting.items())
    dead = [name for name, (_, letters) in waiting.items() if letters]
    if not dead:
        return Finding(name="queues", ok=True, says=f"messages: {says}")
    says = f"dead letters in {', '.join(dead)}; messages: {says}"
    advice = f"read why: cairn logs aws; then cairn redrive --queue {dead[0]}"
    return Finding(name="queues", ok=False, says=says, advice=advice)


def _vectors(deps: Deps) -> Finding:
    says = missing_vectors(deps)
    if says is None:
        return Finding(name="vectors", ok=True, says="only an admin's key may count them")
    if not says:
        model = deps.client.get("/v1/reindex")["model"]
        return Finding(name="vectors", ok=True, says=f"all of {model}")
    return Finding(name="vectors", ok=False, says=says, advice="embed them: cairn reindex --wait")


def _opensearch(deps: Deps) -> Finding:
    if deps.settings.opensearch_url is None or deps.settings.app_database_url is None:
        return Finding(name="opensearch", ok=True, says=_without_opensearch(deps))
    index_status = keeper(deps).status()
    if index_status.live is None or not index_status.live.current:
        says = (
            "no index yet"
            if index_status.live is None
            else f"{index_status.live.name} has another mapping"
        )
        advice = "build it: cairn search-index reindex"
        return Finding(name="opensearch", ok=False, says=says, advice=advice)
    failed = [workspace for workspace in index_status.workspaces if workspace.state.failure]
    pending = sum(workspace.pending for workspace in index_status.workspaces)
    says = f"{index_status.live.name}, {pending} nodes wait, {len(failed)} workspaces failed"
    advice = "mend it: cairn search-index repair" if failed else None
    return Finding(name="opensearch", ok=not failed, says=says, advice=advice)


def _without_opensearch(deps: Deps) -> str:
    """PostgreSQL is enough; on a laptop also whether OpenSearch could be had."""
    if not deps.settings.aws_endpoint_url:
        return "not used: PostgreSQL finds words"
    missing = deps.load_stack().opensearch_needs()
    more = f"; {missing}" if missing else "; with it: make up OPENSEARCH=1"
    return f"not used: PostgreSQL finds words{more}"


def _machine(deps: Deps) -> Finding:
    arn = deps.settings.ingestion_machine_arn
    if not arn:
        return Finding(name="state machine", ok=True, says="not known here")
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        status = deps.aws("stepfunctions").describe_state_machine(stateMachineArn=arn)["status"]
    except (BotoCoreError, ClientError) as exc:
        return Finding(
            name="state machine", ok=False, says=str(exc), advice="deploy it again: cairn up"
        )
    return Finding(name="state machine", ok=status == "ACTIVE", says=f"ingestion is {status}")


def _ledger(deps: Deps) -> Finding:
    results = verifications(deps, None)
    broken = sorted(
        (each for each in results if not each["ok"]),
        key=lambda item: item["first_bad_position"] is None,
    )
    if broken:
        first = broken[0]
        if first["first_bad_position"] is None:
            return _keys_missing(broken)
        says = f"{first['workspace_id']} is broken at {first['first_bad_position']}"
        return Finding(
            name="ledger",
            ok=False,
            says=says,
            advice="compare with the anchors and an earlier export; do not write on",
        )
    entries = sum(each["checked"] for each in results)
    return Finding(name="ledger", ok=True, says=f"{entries} entries in {len(results)} chains hold")


def _keys_missing(results: list[dict[str, Any]]) -> Finding:
    missing = [key for each in results for key in each["missing_keys"]]
    ids = ", ".join(str(key["subject_id"]) for key in missing[:3])
    entries = sum(key["entries"] for key in missing)
    return Finding(
        name="ledger",
        ok=False,
        says=f"{len(missing)} keys are gone and nobody was forgotten: {ids}; {entries} entries",
        advice="restore the key store; until then a rebuild is refused",
    )


def _show(deps: Deps, finding: Finding) -> None:
    mark = "[green]✓[/]" if finding.ok else "[red]✗[/]"
    deps.out.print(f"{mark} {finding.name:<14} {escape(finding.says)}")
    if finding.advice:
        deps.out.print(f"  [yellow]→ {escape(finding.advice)}[/]")
