"""`cairn audit-memory`: what is doubled, wrong, secret or lost among memories, with examples.

Of the workspace, read page by page over the API, or of another store's export. Changes nothing.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.memory import Store, read_items
from cairn.cli.options import Json, deps_of, print_json, table

if TYPE_CHECKING:
    from cairn.cli.deps import Deps
    from cairn.memories.audit.audit import MemoryAudit
    from cairn.memories.audit.records import AuditReport

PAGE = 200

_OTHER_STATES = ("provisional", "superseded", "expired", "archived", "quarantined")
_OTHER_TEXTS = ("Document", "Section", "Chunk", "Message", "Event", "Report", "Summary", "Task")
"""Labels whose texts are looked through for credentials, and not compared."""

File = Annotated[Path | None, typer.Argument(help="An export, with --from; else the workspace.")]
From = Annotated[Store | None, typer.Option("--from", help="What wrote the file.")]
FailAbove = Annotated[
    float | None,
    typer.Option(
        "--fail-above",
        min=0,
        max=100,
        help="Exit status 1 when more than so many percent of the records have one problem.",
    ),
]
ByWords = Annotated[bool, typer.Option("--by-words", help="Compare by words, without a model.")]


def audit_memory(
    ctx: typer.Context,
    file: File = None,
    source: From = None,
    fail_above: FailAbove = None,
    by_words: ByWords = False,
    as_json: Json = False,
) -> None:
    """Report near-duplicates, contradictions, boilerplate, secrets, orphans and re-ingestion loops.

    Texts of examples are shortened, and credentials in them masked.
    """
    if (file is None) != (source is None):
        raise typer.BadParameter("a FILE and --from go together")
    deps = deps_of(ctx)
    with deps.err.status("reading …") as line:
        audit = _audit(deps, by_words=by_words)
        if file is not None and source is not None:
            _take_export(audit, source, file)
        else:
            _take_workspace(audit, deps)
        line.update("comparing …")
        report = audit.report()
    if as_json:
        print_json(_report_fields(report))
    else:
        _show(deps, report)
    if fail_above is not None and (above := report.above(fail_above)):
        deps.err.print(f"more than {fail_above:g} % of the records: {', '.join(above)}")
        raise typer.Exit(1)


def _audit(deps: "Deps", *, by_words: bool) -> "MemoryAudit":
    from cairn.memories.audit.audit import MemoryAudit

    if by_words or deps.settings.model_dir is None:
        return MemoryAudit(apart=apart)
    from cairn.embedding.onnx import OnnxEmbedder

    embedder = OnnxEmbedder(deps.settings.model_dir)
    embedder.load()
    return MemoryAudit(embed=embedder.embed, apart=apart, compared_by=embedder.model.name)


def apart(text: str, other: str) -> str | None:
    """Return why two alike texts cannot both hold, by the rules of the consolidation.

    "" when they differ in a number, a date, a name, a denial or opposite words and these rules see
    no conflict.
    """
    from cairn.consolidation.contradictions import contradiction
    from cairn.consolidation.tokens import difference, tokens
    from cairn.consolidation.wording import opposed, wording

    result = contradiction(text, other, {}) or contradiction(other, text, {})
    if result is not None:
        return f"{result[0].value}: {result[1]}"
    if difference(tokens(text), tokens(other)) or opposed(wording(text), wording(other)):
        return ""
    return None


def _take_export(audit: "MemoryAudit", source: Store, file: Path) -> None:
    from cairn.memories.foreign.items import ForeignMemory, Lost, Unreadable

    for item in read_items(source, file):
        if isinstance(item, ForeignMemory):
            audit.add(item.to_record())
        elif isinstance(item, Lost):
            audit.lost(item.record, item.why)
        elif isinstance(item, Unreadable):
            audit.unreadable(item.name, item.why)


def _take_workspace(audit: "MemoryAudit", deps: "Deps") -> None:
    for memory in deps.client.pages("/v1/memories", state="active", limit=PAGE):
        audit.add(_record(memory))
    for state in _OTHER_STATES:
        for memory in deps.client.pages("/v1/memories", state=state, limit=PAGE):
            audit.scan(memory["id"], memory["text"])
    for label in _OTHER_TEXTS:
        for node in deps.client.pages("/v1/nodes", label=label, limit=PAGE):
            audit.scan(node["id"], "\n".join(filter(None, (node["title"], node["text"]))))
    for kind, answer in deps.client.get("/v1/stats/orphans").items():
        examples = [*answer["examples"]]
        for at in range(answer["count"]):
            record = examples[at] if at < len(examples) else f"{kind} {at + 1}"
            audit.lost(record, kind.replace("_", " "))

    for key in deps.client.get("/v1/ledger/verify")["missing_keys"]:
        why = f"its key is gone and nobody was forgotten: {key['entries']} entries cannot be read"
        audit.lost(str(key["subject_id"]), why)


def _record(memory: dict[str, Any]) -> Any:
    from datetime import datetime

    from cairn.memories.audit.records import MemoryRecord

    audience = (memory["client_id"], memory["scope"], *sorted(memory["agents"]))
    return MemoryRecord(
        id=memory["id"],
        text=memory["text"],
        audience="|".join(audience),
        kind=memory["type"],
        source=memory["source_agent"],
        recorded_at=datetime.fromisoformat(memory["recorded_at"]),
    )


def _report_fields(report: "AuditReport") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(report)


def _show(deps: "Deps", report: "AuditReport") -> None:
    beyond = f", {report.left_out} of them beyond the limit" if report.left_out else ""
    scanned = f"; {report.scanned} other texts looked through for secrets" if report.scanned else ""
    deps.out.print(f"{report.records} records{beyond}; compared by {report.compared_by}{scanned}")
    rows = table("problem", "records", "share")
    for name, problem in report.problems.items():
        rows.add_row(name.replace("_", " "), str(problem.count), f"{100 * problem.share:.1f} %")
    deps.out.print(rows)
    for name, problem in report.problems.items():
        for example in problem.examples:
            deps.out.print(f"{name.replace('_', ' ')}: {example.why}", style="bold", markup=False)
            for record, text in zip(example.records, example.texts, strict=False):
                deps.out.print(f"  {record}: {text}", markup=False)
            if not example.texts:
                deps.out.print(f"  {', '.join(example.records)}", markup=False)
