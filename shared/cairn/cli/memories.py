"""`cairn remember`, `recall`, `context`, and `searches`: who was given what, and why."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import (
    Client,
    Json,
    Scope,
    deps_of,
    escape,
    moment,
    print_json,
    table,
    without_none,
)

if TYPE_CHECKING:
    from rich.text import Text


BATCH = 500
_COLOURS = {"created": "green", "superseded": "green", "rejected": "red"}

searches_app = typer.Typer(
    help="Searches that were made: listed, explained and replayed.", no_args_is_help=True
)

PersonalizeFor = Annotated[
    str | None,
    typer.Option(help="The client for whom: what is known of them moves results up."),
]
MinRelevance = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Leave out what is less relevant; 0 leaves nothing out."),
]
SearchId = Annotated[str, typer.Argument(help="meta.search_id of an answer.")]
Svg = Annotated[Path | None, typer.Option("--svg", help="Draw the walked graph to this file.")]
TEXT_CHARS, BLOCK_CHARS, COLUMN_CHARS = 60, 200, 9


def remember(
    ctx: typer.Context,
    text: Annotated[
        str | None, typer.Argument(help="What to remember; - reads standard input.")
    ] = None,
    type: Annotated[str, typer.Option(help="event, fact, decision or status.")] = "fact",
    key: Annotated[str | None, typer.Option(help="Facts: the key a newer one replaces.")] = None,
    subject: Annotated[str | None, typer.Option(help="Statuses: what they are about.")] = None,
    client: Client = None,
    session: Annotated[
        str | None,
        typer.Option(
            envvar="CAIRN_SESSION_ID", show_envvar=True, help="The conversation it belongs to."
        ),
    ] = None,
    scope: Scope = None,
    importance: Annotated[str | None, typer.Option(help="critical, high, medium, low.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="RFC 3339, with its zone.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="JSON lines, one memory each, instead."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Remember one text, or a file of memories."""
    deps = deps_of(ctx)
    if file is not None:
        results = remember_all(deps, read_lines(file))
        _show_batch(deps, results, as_json=as_json)
        return
    body = without_none(
        {
            "text": _text(text),
            "type": type,
            "key": key,
            "subject": subject,
            "client_id": client,
            "session_id": session,
            "scope": scope,
            "importance": importance,
            "occurred_at": occurred_at,
        }
    )
    result = deps.client.post("/v1/memories", body)
    if as_json:
        return print_json(result)
    deps.out.print(
        f"[green]{result['outcome']}[/] {result['id']}  [dim]ledger {result['position']}[/]"
    )
    for warning in result["warnings"]:
        deps.err.print(f"[yellow]note:[/] {warning}")


def _text(text: str | None) -> str:
    if text == "-":
        return sys.stdin.read()
    if text is None:
        raise typer.BadParameter("Give a text, - for standard input, or --file.")
    return text


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the memories of a JSON lines file; Failure names a line that is not an object."""
    memories: list[dict[str, Any]] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            memory = json.loads(line)
        except ValueError as exc:
            raise Failure(f"Line {number} of {file} is not JSON.") from exc
        if not isinstance(memory, dict):
            raise Failure(f"Line {number} of {file} is not a JSON object.")
        memories.append(cast("dict[str, Any]", memory))
    return memories


def remember_all(deps: Deps, memories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write memories in batches and return their results, numbered through."""
    results: list[dict[str, Any]] = []
    for start in range(0, len(memories), BATCH):
        answer = deps.client.post("/v1/memories", {"items": memories[start : start + BATCH]})
        results += [{**each, "index": each["index"] + start} for each in answer["results"]]
    return results


def count(results: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many results there are of each outcome that occurs."""
    counts: dict[str, int] = {}
    for result in results:
        counts[result["outcome"]] = counts.get(result["outcome"], 0) + 1
    return counts


def _show_batch(deps: Deps, results: list[dict[str, Any]], *, as_json: bool) -> None:
    counts = count(results)
    if as_json:
        print_json({"results": results, "counts": counts})
    else:
        deps.out.print(say_counts(counts))
        for result in results:
            if result["outcome"] == "rejected":
                detail = result["error"]["detail"]
                deps.err.print(f"[red]line {result['index'] + 1}:[/] {escape(detail)}")
    if "rejected" in counts:
        raise typer.Exit(1)


def say_counts(counts: dict[str, int]) -> str:
    """Return the counts as a sentence with colours."""
    lines = [f"[{_COLOURS.get(name, 'cyan')}]{many} {name}[/]" for name, many in counts.items()]
    return ", ".join(lines) or "nothing to remember"


def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="A question, or a few words.")],
    limit: Annotated[int, typer.Option(min=1, max=100)] = 5,
    kind: Annotated[list[str] | None, typer.Option(help="event, fact, decision, status.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Memory, Chunk, Document ...")] = None,
    client: Client = None,
    occurred_from: Annotated[
        str | None, typer.Option("--from", help="Of what happened from a time.")
    ] = None,
    occurred_to: Annotated[
        str | None, typer.Option("--to", help="Of what happened before a time.")
    ] = None,
    valid_at: Annotated[str | None, typer.Option(help="What was true then.")] = None,
    as_of: Annotated[str | None, typer.Option(help="What was known then.")] = None,
    superseded: Annotated[bool, typer.Option(help="Earlier versions too.")] = False,
    recipe: Annotated[str | None, typer.Option(help="Another recall recipe.")] = None,
    on: Annotated[list[str] | None, typer.Option(help="Switch a stage on.")] = None,
    off: Annotated[list[str] | None, typer.Option(help="Switch a stage off.")] = None,
    min_relevance: MinRelevance = None,
    personalize_for: PersonalizeFor = None,
    explain: Annotated[bool, typer.Option(help="Why each result is where it is.")] = False,
    svg: Svg = None,
    as_json: Json = False,
) -> None:
    """Find what was remembered, with the score and the source of each result."""
    deps = deps_of(ctx)
    position = int(as_of) if as_of and as_of.isdecimal() else as_of
    stages = dict.fromkeys(on or [], True) | dict.fromkeys(off or [], False)
    body = without_none(
        {
            "query": query,
            "limit": limit,
            "kinds": kind,
            "labels": label,
            "client_id": client,
            "occurred_from": occurred_from,
            "occurred_to": occurred_to,
            "valid_at": valid_at,
            "as_of": position,
            "include_superseded": superseded,
            "recipe": recipe,
            "stages": stages or None,
            "min_relevance": min_relevance,
            "personalize_for": personalize_for,
        }
    )
    answer = deps.client.post("/v1/search", body)
    explained = None
    if explain or svg is not None:
        explained = deps.client.get(f"/v1/searches/{answer['meta']['search_id']}")
        draw(explained, svg)
    if as_json:
        print_json(answer if explained is None else answer | {"explained": explained})
    elif explain and explained is not None:
        show_explained(deps, explained)
        show_timings(deps, answer["meta"])
    else:
        show_results(deps, answer, query)


def context(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="A question, or a few words.")],
    max_tokens: Annotated[int, typer.Option(min=64, max=100_000)] = 2000,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    client: Client = None,
    recipe: Annotated[str | None, typer.Option(help="Another recall recipe.")] = None,
    min_relevance: MinRelevance = None,
    personalize_for: PersonalizeFor = None,
    as_json: Json = False,
) -> None:
    """Print what was remembered as one block for a prompt, with the source of each piece."""
    deps = deps_of(ctx)
    body = {"query": query, "limit": limit, "max_tokens": max_tokens}
    body |= without_none({"client_id": client, "recipe": recipe, "min_relevance": min_relevance})
    body |= without_none({"personalize_for": personalize_for})
    built = deps.client.post("/v1/context", body)
    if as_json:
        return print_json(built)
    typer.echo(built["context"])
    text = f"{built['tokens']} of {built['max_tokens']} tokens, {len(built['citations'])} sources"
    if built["left_out"]:
        text += f", {built['left_out']} did not fit"
    deps.err.print(f"[dim]{text}[/]")


def show_results(deps: Deps, answer: dict[str, Any], query: str) -> None:
    """Print results as a table, and what `meta` says about the search."""
    if answer["results"]:
        shown = table("relevance", "score", "found", "source", "ledger")
        for row in _rows(answer["results"], query):
            shown.add_row(*row)
        deps.out.print(shown)
    else:
        deps.out.print(f"  {_nothing(answer['meta'])}")
    from cairn.recall.rendering import set_in_words

    meta = answer["meta"]
    if note := set_in_words(meta.get("set")):
        deps.out.print(f"  {escape(note)}")
    text = f"{len(answer['results'])} results in {meta.get('query_ms', 0):.0f} ms"
    if meta.get("degraded"):
        text += f", without {', '.join(meta['degraded'])}"
    deps.out.print(f"[dim]{text}[/]")


def _nothing(meta: dict[str, Any]) -> str:
    relevance: dict[str, Any] = meta.get("relevance") or {}
    left_out = relevance.get("left_out")
    if not left_out:
        return "nothing was found"
    return f"nothing bears on this question ({left_out} left out; --min-relevance 0 shows them)"


def _rows(results: list[dict[str, Any]], query: str) -> Iterator[tuple[str, ...]]:
    for result in results:
        score = result.get("scores", {}).get("relevance_score") or 0.0
        provenance = result.get("provenance", {})
        relevance = result.get("relevance")
        yield (
            "-" if relevance is None else f"{relevance:.2f}",
            f"{score:.3f}",
            escape(snippet(str(result.get("text", "")), query)),
            escape(source_of(result)),
            str(provenance.get("position", "-")),
        )


def snippet(text: str, query: str, *, chars: int = 200) -> str:
    """Return the part of a text that holds most of the query's words, whole when it is short."""
    from cairn.kernel.text.words import content_words, words

    flat = " ".join(text.split())
    if len(flat) <= chars:
        return flat
    query_words = set(content_words(query))
    starts = [match.start() for match in re.finditer(r"\b\w", flat)]
    best = max(starts, key=lambda at: (len(query_words & set(words(flat[at : at + chars]))), -at))
    cut = flat[best : best + chars]
    if best + chars < len(flat):
        cut = cut.rpartition(" ")[0] + " …"
    return f"… {cut}" if best else cut


def source_of(result: dict[str, Any]) -> str:
    """Return where a result comes from, as short as it can be said."""
    attributes, provenance = result.get("attributes", {}), result.get("provenance", {})
    where = attributes.get("source_uri") or provenance.get("session_id") or ""
    if "://" in where:
        where = where.rpartition("/")[2] or where
    if attributes.get("page_from"):
        where += f" p. {attributes['page_from']}"
    elif attributes.get("line_from"):
        where += f" line {attributes['line_from']}"
    when = str(provenance.get("occurred_at") or "")[:10]
    kind = result.get("kind") or result.get("type") or ""
    validity = result.get("validity", "current")
    holds = "" if validity == "current" else validity
    return " · ".join(part for part in (kind, where, when, holds) if part)


@searches_app.command("list")
def list_searches(
    ctx: typer.Context,
    node: Annotated[
        str | None, typer.Option(help="Only those that returned this node: who was given it.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """List the newest searches: who asked, when, in which session, how many were returned."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/searches", node_id=node, limit=limit)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "when", "who", "session", "returned", "place", whole="id")
    for each in items:
        who, session = each["asked_by"] or "", each["session_id"] or ""
        place = str(each["rank"] or "")
        shown.add_row(
            each["id"],
            moment(each["asked_at"]),
            escape(who),
            escape(session),
            str(each["returned"]),
            place,
        )
    deps.out.print(shown if items else "No search that you may see, of the days they are kept.")


@searches_app.command("show")
def show(ctx: typer.Context, search_id: SearchId, svg: Svg = None, as_json: Json = False) -> None:
    """Show why each result is where it is, leg by leg and signal by signal."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/searches/{search_id}")
    draw(answer, svg)
    if as_json:
        return print_json(answer)
    show_explained(deps, answer)


@searches_app.command("replay")
def replay(ctx: typer.Context, search_id: SearchId, as_json: Json = False) -> None:
    """Do a search again from what was kept of it, and say whether the same comes out."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/searches/{search_id}")
    same = bool(answer["replayed"])
    if as_json:
        print_json({"search_id": answer["search_id"], "replayed": same, "ids": _ids(answer)})
    else:
        for node_id in _ids(answer):
            deps.out.print(node_id)
        text = "[green]the same ids in the same order[/]" if same else "[red]not the same ids[/]"
        deps.out.print(text)
    if not same:
        raise typer.Exit(1)


def show_explained(deps: Deps, explained: dict[str, Any]) -> None:
    """Print the table of contributions, the legs, and what stood out."""
    rows: list[dict[str, Any]] = explained["results"]
    names = list(dict.fromkeys(name for row in rows for name in row["contributions"]))
    if rows and deps.out.width >= TEXT_CHARS + COLUMN_CHARS * (len(names) + 3):
        last = ["rerank"] if _reranked(rows) else []
        shown = table("#", "text", "legs", *names, "total", *last)
        for row in rows:
            shown.add_row(*(escape(cell) for cell in _cells(row, names, rows)))
        deps.out.print(shown)
    elif rows:
        for row in rows:
            deps.out.print(_block(row), highlight=False)
    else:
        deps.out.print("  nothing was found")
    value = ", ".join(f"{leg} {count}" for leg, count in explained["candidates"].items())
    intents = ", ".join(f"{name} {sure:.2f}" for name, sure in explained["intents"].items())
    text = f"{explained['recipe']}: {value}; {explained['retrieval_class']}; {intents}"
    deps.out.print(f"[dim]{escape(text)}[/]")
    for each in explained["degraded"]:
        deps.out.print(f"[yellow]without[/] {escape(each)}")


def draw(explained: dict[str, Any], svg: Path | None) -> None:
    """Write the drawing of what the graph leg walked, when a file is named."""
    if svg is None:
        return
    from cairn.recall.walks.picture import walk_picture

    svg.write_text(walk_picture(explained), encoding="utf-8")
    typer.echo(f"drawn to {svg}", err=True)


def show_timings(deps: Deps, meta: dict[str, Any]) -> None:
    """Print milliseconds by leg and stage."""
    legs = [f"{name} {leg['ms']:.1f}" for name, leg in meta["legs"].items()]
    stages = [f"{name} {ms:.1f}" for name, ms in meta["stages_ms"].items()]
    deps.out.print(f"[dim]ms by leg: {', '.join(legs)}; by stage: {', '.join(stages)}[/]")


def _ids(answer: dict[str, Any]) -> list[str]:
    return [row["node_id"] for row in answer["results"]]


def _reranked(rows: list[dict[str, Any]]) -> bool:
    return any(row.get("rerank") is not None for row in rows)


def _block(row: dict[str, Any]) -> "Text":
    """Return a result as a few short lines: what a narrow terminal can show of its table row."""
    from rich.text import Text

    text = " ".join(str(row.get("text", row["node_id"])).split())
    legs = ", ".join(f"{leg} {at['rank']}" for leg, at in row["legs"].items())
    parts = [f"{name} {part:+.3f}" for name, part in row["contributions"].items()]
    rerank = [] if row.get("rerank") is None else [f"rerank {row['rerank']:.3f}"]
    block = Text(f"{row['rank']}. {text[:BLOCK_CHARS]}\n", overflow="fold")
    block.append(f"   {row['score']:.3f}", style="bold").append(f" found by {legs}\n")
    return block.append(f"   {'  '.join([*parts, *rerank])}\n", style="dim")


def _cells(row: dict[str, Any], names: list[str], rows: list[dict[str, Any]]) -> list[str]:
    text = " ".join(str(row.get("text", row["node_id"])).split())
    legs = ", ".join(f"{leg} {at['rank']}" for leg, at in row["legs"].items())
    parts = [row["contributions"].get(name) for name in names]
    cells = [
        str(row["rank"]),
        text[:TEXT_CHARS] + ("…" if len(text) > TEXT_CHARS else ""),
        legs,
        *("" if part is None else f"{part:+.3f}" for part in parts),
        f"{row['score']:.3f}",
    ]
    if _reranked(rows):
        cells.append("" if row.get("rerank") is None else f"{row['rerank']:.3f}")
    return cells
