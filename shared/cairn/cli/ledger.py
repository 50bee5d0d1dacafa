"""`cairn ledger`, and `cairn rebuild`: the projections made anew from the ledger."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, print_json, table

app = typer.Typer(help="The hash chain everything rests on.", no_args_is_help=True)

Workspace = Annotated[UUID | None, typer.Option("--workspace", help="Only this workspace.")]


@app.command()
def verify(
    ctx: typer.Context,
    workspace: Workspace = None,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Hold the key's own chain to its signed anchors.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify chains from their beginning; exit status 1 and the position when one is broken.

    With the owner's database URL all workspaces are verified, otherwise the key's own; and whether
    the key of everybody nobody has forgotten is there. `--anchors` also finds a
    chain that the database's owner wrote anew or cut.
    """
    deps = deps_of(ctx)
    if anchors:
        results = [own_verification(deps, workspace, anchors=True)]
    else:
        results = verifications(deps, workspace)
    ok = all(each["ok"] for each in results)
    if as_json:
        print_json({"ok": ok, "workspaces": results})
    else:
        _show(deps, results)
    if not ok:
        raise typer.Exit(1)


def verifications(deps: Deps, workspace: UUID | None) -> list[dict[str, Any]]:
    """Verify through the owner's URL where there is one, else through the API."""
    if deps.owner_url:
        operator, settings = deps.load_operator(), deps.deployment_if_known()
        ledger_verifications = operator.verify_ledgers(deps.owner_url, workspace, settings)
        return [asdict(each) for each in ledger_verifications]
    return [own_verification(deps, workspace)]


def own_verification(
    deps: Deps, workspace: UUID | None, *, anchors: bool = False
) -> dict[str, Any]:
    """Verify the key's own workspace through the API; Failure when `workspace` is another."""
    answer = deps.client.get("/v1/ledger/verify", anchors="true" if anchors else None)
    if workspace and answer["workspace_id"] != str(workspace):
        advice = "use that workspace's key" if anchors else "set CAIRN_DATABASE_URL (owner)"
        raise Failure("This key belongs to another workspace.", advice=advice)
    return answer


def _show(deps: Deps, results: list[dict[str, Any]]) -> None:
    if not results:
        deps.out.print("there is no workspace yet")
        return
    shown = table("workspace", "chain", "entries", "head")
    for each in results:
        chain = "[green]holds[/]"
        if not _chain_holds(each):
            chain = f"[red]broken at {each['first_bad_position']}: {each['reason']}[/]"
        head = str(each["head_hash"])[:16]
        shown.add_row(str(each["workspace_id"]), chain, str(each["checked"]), head)
    deps.out.print(shown)
    for each in results:
        _show_missing_keys(deps, each)
        if "anchors" in each:
            _show_anchors(deps, each["anchors"])


def _show_missing_keys(deps: Deps, answer: dict[str, Any]) -> None:
    for key in answer["missing_keys"]:
        how = "destroyed without a forgetting" if key["destroyed"] else "missing"
        deps.out.print(
            f"[red]the key of {key['subject_id']} is {how}[/]: {key['entries']} entries cannot be "
            f"read, the first at {key['first_position']}"
        )


def _chain_holds(answer: dict[str, Any]) -> bool:
    """Return whether the chain itself holds, whatever is wrong with the anchors' objects."""
    return answer["first_bad_position"] is None


def _show_anchors(deps: Deps, anchors: dict[str, Any]) -> None:
    last = f", the newest at {anchors['last_position']}" if anchors["trusted"] else ""
    deps.out.print(f"anchors: {anchors['trusted']} trusted{last}")
    for fault in anchors["faults"]:
        where = ", ".join(
            f"{name} {fault[name]}" for name in ("key", "number", "position") if fault[name]
        )
        colour = "yellow" if fault["reason"] == "unsigned" else "red"
        deps.out.print(f"[{colour}]{fault['reason']}[/]: {where}")


@app.command()
def anchor(
    ctx: typer.Context,
    function: Annotated[
        str, typer.Option(help="The audit function; cairn-prod-audit on AWS.")
    ] = "cairn-local-audit",
    as_json: Json = False,
) -> None:
    """Verify all chains and write their anchors now, as the daily schedule does.

    Needs AWS credentials that may invoke the audit function.
    """
    deps = deps_of(ctx)
    done = anchor_now(deps, function)
    if as_json:
        print_json(done)
    else:
        deps.out.print(f"{done['verified']} chains hold, {done['anchored']} anchors written")
        if done["waiting"]:
            deps.out.print(
                f"{done['waiting']} chains wait: their time was up; the schedule has more"
            )


def anchor_now(deps: Deps, function: str) -> dict[str, Any]:
    """Run the audit function's step; Failure when it cannot be run or found a broken chain."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        answer = deps.aws("lambda").invoke(
            FunctionName=function, Payload=json.dumps({"step": "verify_and_anchor"})
        )
        document: Any = json.loads(answer["Payload"].read())
    except (BotoCoreError, ClientError) as exc:
        raise Failure(
            f"The function {function} cannot be run.", advice="is the stack up? see `cairn status`"
        ) from exc
    if answer.get("FunctionError"):
        raise Failure(
            f"The audit step failed: {document.get('errorMessage', '')}",
            advice="see `cairn ledger verify`",
        )
    return document


@app.command()
def export(
    ctx: typer.Context,
    workspace: Workspace = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; standard output by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a chain as JSON lines that scripts/verify_ledger.py checks offline.

    The bodies in it stay encrypted. Needs the owner's database URL.
    """
    deps = deps_of(ctx)
    if not deps.owner_url:
        raise Failure("An export needs the owner's database URL.", advice="set CAIRN_DATABASE_URL")
    chosen = workspace or UUID(deps.client.get("/v1/whoami")["workspace_id"])
    lines = deps.load_operator().export_ledger(deps.owner_url, chosen)
    if output is None:
        for line in lines:
            typer.echo(line.rstrip("\n"))
        return
    entries = -1
    with output.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line.rstrip("\n") + "\n")
            entries += 1
    if as_json:
        print_json({"workspace_id": chosen, "entries": entries, "file": output})
    else:
        deps.err.print(f"{entries} entries of {chosen} in {output}")


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="An export, made by cairn ledger export.")],
    name: Annotated[str, typer.Option(help="What to call the workspace.")] = "restored",
    as_json: Json = False,
) -> None:
    """Bring a workspace back from an export into an empty database, beside the same key store.

    Every entry is checked as it is read; an export that was changed is refused at its line, and
    nothing is left. Tombstones are followed before anything is made. Needs the owner's URL.
    """
    deps = deps_of(ctx)
    if not deps.owner_url:
        raise Failure("An import needs the owner's database URL.", advice="set CAIRN_DATABASE_URL")
    with file.open(encoding="utf-8") as lines:
        fields = deps.load_operator().restore(deps.deployment(), deps.owner_url, lines, name=name)
    if as_json:
        return print_json(fields)
    deps.out.print(
        f"{fields['entries']} entries of {fields['workspace_id']}; "
        f"{fields['unreadable']} without a key, "
        f"{fields['queued']} nodes wait for the embedder"
    )
    deps.out.print(f"[yellow]→ a key for it: cairn workspace create {name}[/]")


@app.command("list")
def list_entries(
    ctx: typer.Context,
    type: Annotated[str | None, typer.Option(help="Only this type, or its namespace.")] = None,
    from_position: Annotated[int, typer.Option("--from", min=1)] = 1,
    actor: Annotated[str | None, typer.Option(help="Only what this actor wrote.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this data subject's id.")] = None,
    since: Annotated[str | None, typer.Option(help="Only recorded at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only recorded before this time.")] = None,
    newest: Annotated[bool, typer.Option("--newest", help="The newest first.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """Show entries by position."""
    deps = deps_of(ctx)
    where = {"type": type, "actor_id": actor, "subject_id": subject, "recorded_from": since}
    where |= {"recorded_to": until, "newest_first": "true" if newest else None}
    page = deps.client.get("/v1/ledger", from_position=from_position, limit=limit, **where)
    if as_json:
        return print_json(page)
    shown = table("position", "type", "actor", "recorded", "hash")
    for each in page["items"]:
        actor = f"{each['actor_kind']}:{each['actor_id']}"
        shown.add_row(
            str(each["position"]), each["type"], actor, each["recorded_at"][:19], each["hash"][:16]
        )
    deps.out.print(shown)


POLL_SECONDS = 1.0
STUCK_SECONDS = 600.0
"""After so long without any progress nobody is at work."""

RebuildWorkspace = Annotated[
    UUID | None, typer.Option("--workspace", help="By default the key's own.")
]
Check = Annotated[bool, typer.Option("--check", help="Only compare; nothing changes.")]
Deep = Annotated[
    bool, typer.Option("--deep", help="With --check: compute every vector again, not a sample.")
]
Here = Annotated[
    bool, typer.Option("--here", help="In this process, beside the database, not by the machine.")
]


def rebuild(
    ctx: typer.Context,
    workspace: RebuildWorkspace = None,
    check: Check = False,
    here: Here = False,
    deep: Deep = False,
    as_json: Json = False,
) -> None:
    """Replay a workspace's ledger and replace every row that is not as it says.

    Searches go on meanwhile. May be stopped and repeated: it goes on where it was. The exit status
    of --check is 1 when something is not as the ledger says. Beside the deployment's settings it
    also computes vectors again: the cache they come from may have been changed with them.
    """
    if deep and not check:
        raise typer.BadParameter("--deep goes with --check")
    deps = deps_of(ctx)
    fields = _here(deps, workspace, check) if here else _by_machine(deps, workspace, check)
    vectors = _vectors(deps, UUID(fields["workspace_id"]), deep) if check else None
    if as_json:
        print_json(fields | ({"vectors": vectors} if check else {}))
    else:
        _show_rebuild(deps, fields)
        _show_vectors(deps, vectors)
    if check and not (fields["equal"] and not (vectors and vectors["wrong"])):
        raise typer.Exit(1)


def _vectors(deps: Deps, workspace_id: UUID, deep: bool) -> dict[str, Any] | None:
    """Compute vectors again where the deployment's model and database are known."""
    settings = deps.deployment() if deep else deps.deployment_if_known()
    if settings is None:
        return None
    return deps.load_operator().check_vectors(settings, workspace_id, deep=deep)


def _show_vectors(deps: Deps, vectors: dict[str, Any] | None) -> None:
    if vectors is None:
        return
    deps.out.print(
        f"vectors: {vectors['texts']} texts of {vectors['nodes']} nodes computed again by "
        f"{vectors['model']}, {vectors['wrong']} nodes have another one"
    )
    for node_id in vectors["wrong_nodes"]:
        deps.out.print(f"[red]not what its text says[/]: {node_id}")


def _here(deps: Deps, workspace: UUID | None, check: bool) -> dict[str, Any]:
    chosen = workspace or UUID(deps.client.get("/v1/whoami")["workspace_id"])
    return deps.load_operator().rebuild(deps.deployment(), chosen, only_check=check)


def _by_machine(deps: Deps, workspace: UUID | None, check: bool) -> dict[str, Any]:
    own = deps.client.get("/v1/whoami")["workspace_id"]
    if workspace and str(workspace) != own:
        raise Failure(
            "This key belongs to another workspace.", advice="use --here, or a key of that one"
        )
    state = deps.client.post("/v1/rebuilds", {"check": check})
    moved, entries = deps.stopwatch(), -1
    with deps.err.status("replaying …") as line:
        while state["state"] == "running":
            if deps.stopwatch() - moved > STUCK_SECONDS:
                raise Failure("Gave up waiting.", advice=f"GET /v1/rebuilds/{state['id']}")
            deps.sleep(POLL_SECONDS)
            state = deps.client.get(f"/v1/rebuilds/{state['id']}")
            if state["entries"] != entries:
                moved, entries = deps.stopwatch(), state["entries"]
            line.update(f"{entries} of {state['head']} entries replayed …")
    if state["state"] != "finished":
        raise Failure(f"The rebuild failed: {state['error']}.", advice="cairn ledger verify")
    return state["result"]


def _show_rebuild(deps: Deps, answer: dict[str, Any]) -> None:
    shown = table("table", "rows", "as the ledger says", "checksum")
    for name, item in answer["tables"].items():
        same = (
            "[green]yes[/]" if item["equal"] else f"[red]no[/] ({item['rows_before']} rows before)"
        )
        shown.add_row(name, str(item["rows"]), same, item["after"][:16])
    deps.out.print(shown)
    verb = "would change" if answer["check"] else "changed"
    state = "all was as the ledger says" if answer["equal"] else f"rows {verb}: see above"
    deps.out.print(
        f"{answer['entries']} entries up to position {answer['position']}, "
        f"{answer['unreadable']} of "
        f"them without a key; {state}; {answer['queued']} nodes wait for the embedder"
    )
