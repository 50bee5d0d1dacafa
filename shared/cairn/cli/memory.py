"""`cairn memory`: the graph and the memories in and out, those of other stores. Over the API.

A record of another store is remembered like any memory: scrubbed, screened, compared. So what is
known already is a duplicate, and importing a file again writes nothing.
"""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from cairn.cli.client import Client as ApiClient
from cairn.cli.client import Failure
from cairn.cli.memory_files import Backend, Only, import_file, moved, write_file
from cairn.cli.options import Client, Json, deps_of, print_json, table
from cairn.kernel.access import Scope
from cairn.kernel.access.system import checking_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cairn.cli.deps import Deps
    from cairn.memories.draft import MemoryDraft
    from cairn.memories.foreign.items import ForeignMemory, Item
    from cairn.memories.items import NewMemory


class Store(StrEnum):
    """A store whose exports can be read."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"


def read_items(
    store: Store, file: Path, *, client_id: str = "global", scope: str = "admin"
) -> "Iterator[Item]":
    """Yield what the export holds; a Failure when the file is not there or is no JSON at all."""
    from cairn.memories.foreign.graphiti import read_graphiti
    from cairn.memories.foreign.items import Defaults, read_export
    from cairn.memories.foreign.mem0 import read_mem0

    if not file.is_file():
        raise Failure(f"{file} is not there, or no file.")
    if scope not in tuple(Scope):
        raise Failure(f"{scope} is none of the scopes {', '.join(Scope)}.")
    defaults = Defaults(client_id=client_id, scope=Scope(scope))
    read = {Store.MEM0: read_mem0, Store.GRAPHITI: read_graphiti}[store]
    yield from read(read_export(file), defaults)


app = typer.Typer(
    help="Memories: listed, corrected, exported, imported and migrated.", no_args_is_help=True
)

File = Annotated[Path, typer.Argument(help="An export, or with --from one of another store.")]
From = Annotated[Store | None, typer.Option("--from", help="What wrote it, if not Cairn.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only report what would change.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="A file; standard output by default.")
]
OnlyPart = Annotated[
    Only | None, typer.Option("--only", help="Only nodes and edges, or only memories.")
]
To = Annotated[Backend, typer.Option("--to", help="postgres, or memory to rehearse.")]
Url = Annotated[str | None, typer.Option("--url", help="The other deployment's API.")]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", envvar="CAIRN_TARGET_API_KEY", show_envvar=True, help="An admin key of it."
    ),
]


@app.command()
def export(
    ctx: typer.Context, out: Out = None, only: OnlyPart = None, as_json: Json = False
) -> None:
    """Write nodes with natural keys, their edges, and memories as canonical JSON lines.

    Documents and events travel with the ledger: `cairn ledger export`.
    """
    deps = deps_of(ctx)
    fields = write_file(deps, out, only)
    if out is None:
        deps.err.print(_counts(fields))
    elif as_json:
        print_json(fields)
    else:
        deps.err.print(f"{_counts(fields)} in {out}", markup=False)


@app.command("import")
def import_(
    ctx: typer.Context,
    file: File,
    source: From = None,
    client: Client = None,
    scope: Annotated[str, typer.Option(help="public, shared or admin.")] = "admin",
    only: OnlyPart = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import an export of Cairn, or of mem0 or Graphiti. A second import adds nothing.

    Cairn's own file is read whole first: one that was cut or changed is refused, its line named,
    and nothing is written. The exit status is 1 when a memory was refused, or a record of another
    store could not be read; the others stand.
    """
    deps = deps_of(ctx)
    if source is None:
        _import_file(deps, file, only, dry_run=dry_run, as_json=as_json)
        return
    if only is not None:
        raise typer.BadParameter("--only is for Cairn's own file, not for one --from elsewhere.")
    items = read_items(source, file, client_id=client or "global", scope=scope)
    importing: Importing = Tried() if dry_run else Sending(deps.client)
    with deps.err.status("reading …") as line:
        for item in items:
            importing.take(item)
            line.update(f"{importing.read} records read, {importing.written} written …")
        importing.finish()
    fields = importing.told()
    if as_json:
        print_json(fields)
    else:
        shown(deps, fields)
    if fields["refused"] or fields["unreadable"]:
        raise typer.Exit(1)


@app.command()
def migrate(
    ctx: typer.Context, to: To, url: Url = None, key: Key = None, as_json: Json = False
) -> None:
    """Move the memory graph into another workspace, or rehearse it in memory, and compare.

    The exit status is 1 when both do not export the same then: the other one held something before.
    """
    deps = deps_of(ctx)
    target = None
    if url and key:
        target = ApiClient(url, key, sleep=deps.sleep, transport=deps.transport)
    fields = moved(deps, to, target)
    if as_json:
        print_json(fields)
    else:
        same = "the same" if fields["equal"] else "not the same"
        deps.out.print(f"{_counts(fields)} moved, {fields['changed']} changed; both export {same}")
    if not fields["equal"]:
        raise typer.Exit(1)


def _import_file(
    deps: "Deps", file: Path, only: Only | None, *, dry_run: bool, as_json: bool
) -> None:
    fields = import_file(deps, file, dry_run=dry_run, only=only)
    if as_json:
        print_json(fields)
    elif dry_run:
        deps.out.print(f"{_counts(fields)} would be written, or stand already")
    else:
        deps.out.print(f"{_counts(fields)} read, {fields['changed']} changed")
    for bad in fields["refused"]:
        deps.err.print(f"line {bad['line']}: {bad['why']}", style="yellow", markup=False)
    if fields["refused"]:
        raise typer.Exit(1)


def _counts(answer: dict[str, Any]) -> str:
    return f"{answer['nodes']} nodes, {answer['edges']} edges and {answer['memories']} memories"


AT_ONCE = 50
CHARS_AT_ONCE = 500_000
"""A request may have 4 MiB; a character takes up to four bytes, and escaped six."""

NAMED = 20
"""Records named one by one in the answer; all are counted."""


class Importing(Protocol):
    """Takes the records of an export, one way or the other."""

    read: int
    written: int

    def take(self, item: "Item") -> None:
        """Take one record."""
        ...

    def finish(self) -> None:
        """Do what still waits."""
        ...

    def told(self) -> dict[str, Any]:
        """Return counts, and the first records that were refused or could not be read."""
        ...


class _Counting:
    """Counts records by what became of them, and names the first bad ones."""

    dry_run = False

    def __init__(self) -> None:
        self.read = 0
        self.written = 0
        self.outcomes: Counter[str] = Counter()
        self.refused: list[dict[str, str]] = []
        self.unreadable: list[dict[str, str]] = []
        self.skipped: Counter[str] = Counter()
        self.lost = 0
        self._bad: Counter[str] = Counter()
        self._now = utc_now()

    def take(self, item: "Item") -> None:
        from cairn.memories.foreign.items import Lost, Skipped, Unreadable

        if isinstance(item, Lost):
            self.lost += 1
            return
        self.read += 1
        if isinstance(item, Unreadable):
            self._name("unreadable", self.unreadable, item.name, item.why)
        elif isinstance(item, Skipped):
            self.skipped[item.why] += 1
        elif (draft := self._drafted(item)) is not None:
            self._memory(item, draft)

    def finish(self) -> None:
        """Nothing waits, unless something is sent."""

    def told(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "read": self.read,
            "outcomes": dict(sorted(self.outcomes.items())),
            "refused": self._bad["refused"],
            "unreadable": self._bad["unreadable"],
            "skipped": dict(self.skipped),
            "dangling": self.lost,
            "examples": [*self.unreadable, *self.refused],
        }

    def _memory(self, item: "ForeignMemory", draft: "MemoryDraft") -> None:
        raise NotImplementedError

    def _drafted(self, item: "ForeignMemory") -> "MemoryDraft | None":
        """Return the record as a write would check it, None when it is refused."""
        from cairn.memories.draft import draft_memory
        from cairn.writing.checks import owners

        try:
            owners(item.new.client_id, item.new.data_subjects)
            return draft_memory(item.new, checking_principal(), self._now)
        except CairnError as refused:
            self._refuse(item.name, refused.detail)
            return None

    def _refuse(self, name: str, why: str) -> None:
        self._name("refused", self.refused, name, why)

    def _name(self, what: str, into: list[dict[str, str]], name: str, why: str) -> None:
        self._bad[what] += 1
        if len(into) < NAMED:
            into.append({"record": name, "what": what, "why": why})


class Tried(_Counting):
    """Checks each record as a write would, here, and sends nothing."""

    dry_run = True

    def __init__(self) -> None:
        super().__init__()
        self.scrubbed: Counter[str] = Counter()
        self.screening: Counter[str] = Counter()
        self._known: set[tuple[Any, ...]] = set()

    def told(self) -> dict[str, Any]:
        return super().told() | {
            "scrubbed": dict(sorted(self.scrubbed.items())),
            "screening": dict(sorted(self.screening.items())),
        }

    def _memory(self, item: "ForeignMemory", draft: "MemoryDraft") -> None:
        from cairn.kernel.text.scrub import scrub

        whose = (draft.client_id, item.new.data_subjects)
        self.scrubbed.update(scrub(item.new.text).found)
        self.screening[draft.screening] += 1
        when = draft.occurred_at if draft.kind == "event" else draft.valid_from
        same = (draft.kind, draft.content_hash, whose, draft.audience.scope, when)
        self.outcomes["duplicate in the file" if same in self._known else "would be written"] += 1
        self._known.add(same)


class Sending(_Counting):
    """Sends records in batches; what the API refuses is named, and the others stand."""

    def __init__(self, client: ApiClient) -> None:
        super().__init__()
        self._client = client
        self._waiting: list[ForeignMemory] = []
        self._chars = 0

    def finish(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting, self._chars = self._waiting, [], 0
        items = [as_json(item.new) for item in waiting]
        answer = self._client.post("/v1/memories", {"items": items})
        for memory, result in zip(waiting, answer["results"], strict=True):
            self.outcomes[result["outcome"]] += 1
            self.written += result["outcome"] in ("created", "superseded", "corroborated")
            if result["outcome"] == "rejected":
                self._refuse(memory.name, result["error"]["detail"])

    def _memory(self, item: "ForeignMemory", draft: "MemoryDraft") -> None:
        if len(self._waiting) == AT_ONCE or self._chars + len(item.new.text) > CHARS_AT_ONCE:
            self.finish()
        self._waiting.append(item)
        self._chars += len(item.new.text)


def as_json(new: "NewMemory") -> dict[str, Any]:
    """Return a memory as `POST /v1/memories` takes it; what is not given is left out."""
    times = {
        name: moment.isoformat()
        for name in ("occurred_at", "valid_from", "valid_to")
        if (moment := getattr(new, name)) is not None
    }
    fields = {
        "text": new.text,
        "type": str(new.type),
        "client_id": new.client_id,
        "scope": str(new.scope),
        "key": new.key,
        "source_agent": new.source_agent,
        "session_id": new.session_id,
        "data_subjects": list(new.data_subjects),
        "metadata": dict(new.metadata),
    }
    return {name: value for name, value in fields.items() if value is not None} | times


def shown(deps: "Deps", summary: dict[str, Any]) -> None:
    """Print what an import did, or would do."""
    rows = table("what", "records")
    rows.add_row("read", str(summary["read"]))
    for name, count in summary["outcomes"].items():
        rows.add_row(name, str(count))
    for name in ("refused", "unreadable", "dangling"):
        if summary[name]:
            rows.add_row(name, str(summary[name]))
    for why, count in summary["skipped"].items():
        rows.add_row(f"skipped: {why}", str(count))
    for kind, count in summary.get("scrubbed", {}).items():
        rows.add_row(f"with a {kind} to be scrubbed", str(count))
    for verdict, count in summary.get("screening", {}).items():
        if verdict != "clean":
            rows.add_row(f"screened as {verdict}", str(count))
    deps.out.print(rows)
    for bad in summary["examples"]:
        deps.err.print(f"{bad['record']}: {bad['why']}", style="yellow", markup=False)
