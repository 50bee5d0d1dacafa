"""`cairn forget`: forget a client, a person or a source, and prove that nothing is left."""

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.forget_places import look_beside
from cairn.cli.options import Json, deps_of, print_json, table

PARTS = 100
"""So often a forgetting that takes long is taken up again."""

Subject = Annotated[str | None, typer.Option(help="Whom: client:acme or person:ada@example.org.")]
SubjectId = Annotated[str | None, typer.Option("--subject-id", help="Whom, by the random id.")]
Source = Annotated[str | None, typer.Option(help="Which source, by its URI.")]
ReasonOption = Annotated[str, typer.Option(help="request, retention, mistake or other.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would go; change nothing.")]
Prove = Annotated[bool, typer.Option("--prove", help="Search every store, before and after.")]
Canary = Annotated[
    list[str] | None, typer.Option("--canary", help="Text that must be gone; may be repeated.")
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
    asked = {**_target(subject, subject_id, source), "reason": reason}
    canaries = canary or []
    told: dict[str, Any] = {}
    if dry_run or prove:
        body = {**asked, "dry_run": True, "prove": prove, "canaries": canaries}
        told["plan"], told["before"], words = _planned(deps, body, needed=dry_run)
    else:
        words = canaries
    if not dry_run:
        _confirm(yes=yes)
        told["forgotten"] = _forgotten(deps, asked)
        if prove:
            told["after"] = _proof(deps, told["forgotten"]["id"], words)
    _show(deps, told, as_json=as_json)
    if prove and not dry_run and not told["after"]["clean"]:
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


def _forgotten(deps: Deps, asked: dict[str, Any]) -> dict[str, Any]:
    """Forget, and take it up again while what remains is still being made anew."""
    with deps.err.status("forgetting …"):
        done = deps.client.post("/v1/forget", asked)
        by_id = {"subject_id": done["subject_id"], "reason": asked["reason"]}
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
    beside = [asdict(one) for one in look_beside(deps, words)]
    places = [*proof["places"], *beside]
    return {**proof, "places": places, "clean": not any(one["found"] for one in places)}


def _show(deps: Deps, told: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(told)
    if plan := told.get("plan"):
        counts = ", ".join(f"{count} {what}" for what, count in plan["counts"].items())
        deps.out.print(f"[bold]{plan['kind']}[/] {plan['subject_id'] or ''}: {counts}")
        if not plan["keyed"]:
            deps.out.print("[yellow]→ older bodies of this source stay readable in the ledger[/]")
    if before := told.get("before"):
        _show_proof(deps, "before", before, only_found=True)
    if done := told.get("forgotten"):
        when = "forgotten before" if done["already"] else done["status"]
        deps.out.print(f"forgetting {done['id']}: {when}, {done['counts'].get('node', 0)} nodes")
    if after := told.get("after"):
        _show_proof(deps, "after", after, only_found=False)


def _show_proof(deps: Deps, when: str, proof: dict[str, Any], *, only_found: bool) -> None:
    shown = table("store", "place", "items", "found", "")
    for one in proof["places"]:
        if only_found and not one["found"]:
            continue
        found = f"[red]{one['found']}[/]" if one["found"] else "0"
        numbers = (str(one["items"]), found) if one["searched"] else ("", "not searched")
        shown.add_row(one["store"], one["place"], *numbers, one["note"])
    deps.out.print(shown)
    clean = "[green]nothing found[/]" if proof["clean"] else "[red]something is there[/]"
    deps.out.print(f"{when}, {proof['canaries']} strings looked for: {clean}")
