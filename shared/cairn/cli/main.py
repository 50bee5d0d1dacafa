"""The entry point of `cairn`: every command by name. They import what they need when they run."""

from typing import Annotated, Literal

import typer
from typer.core import TyperGroup

from cairn.cli import (
    agents,
    approvals,
    audit_memory,
    channels,
    chat,
    chats,
    compact,
    connectors,
    consolidate,
    conversations,
    documents,
    embeddings,
    events,
    forget,
    graph,
    investigations,
    ledger,
    mcp,
    memories,
    memory_edits,
    nodes,
    operations,
    people,
    profile,
    publish,
    reports,
    scim,
    search_index,
    sign_in,
    sources,
    stack,
    taint,
    tickets,
    trace,
    widget,
    workflows,
    workspace,
)
from cairn.cli.client import Failure
from cairn.cli.cost import command as cost
from cairn.cli.deps import Deps, from_clone
from cairn.cli.discovery import contacts, feed, intents, negotiations, opportunities
from cairn.cli.discovery.networks import app as networks_app
from cairn.cli.options import Json, deps_of
from cairn.kernel.errors import CairnError


class Commands(TyperGroup):
    """Turns failures into one line and exit status 1; usage errors keep exit status 2."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run the command."""
        try:
            return super().invoke(ctx)
        except Failure as exc:
            _complain(exc.message, exc.advice)
        except CairnError as exc:
            _complain(exc.detail, None)
        raise typer.Exit(1)


app = typer.Typer(
    cls=Commands,
    help="Memory and operations for AI agents. `make run` starts it on this machine.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version

        typer.echo(f"cairn {version('cairn')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Memory and operations for AI agents. `make run` starts a laptop; these commands use it."""


_LAPTOP = "The laptop stack"
_MEMORY = "Memory"
_OPERATIONS = "Operations"
_AGENTS = "Agents"
_DISCOVERY = "Discovery"

app.command("up", rich_help_panel=_LAPTOP)(stack.up)
app.command("down", rich_help_panel=_LAPTOP)(stack.down)
app.command("status", rich_help_panel=_LAPTOP)(stack.status)
app.command("logs", rich_help_panel=_LAPTOP)(stack.logs)
app.command("reset", rich_help_panel=_LAPTOP)(stack.reset)


@app.command("demo", rich_help_panel=_LAPTOP)
def demo(
    ctx: typer.Context,
    part: Annotated[
        Literal["all", "discovery"], typer.Argument(help="discovery: the community alone.")
    ] = "all",
    as_json: Json = False,
) -> None:
    """Remember sample messages, ingest documents, ask, consolidate, work tickets, verify, trace.

    At the end ten people of a community say what they seek and offer, and two of them meet.
    Safe to repeat: what is known already is a duplicate, and an unchanged document stays.
    """
    command = from_clone("benchmarks.demo.command", "The demo is not part of this installation.")
    command.demo(deps_of(ctx), as_json=as_json, part=part)


app.command("doctor", rich_help_panel=_LAPTOP)(stack.doctor)

app.command("remember", rich_help_panel=_MEMORY)(memories.remember)
app.command("recall", rich_help_panel=_MEMORY)(memories.recall)
app.command("context", rich_help_panel=_MEMORY)(memories.context)
app.command("compact", rich_help_panel=_MEMORY)(compact.compact)
app.add_typer(memory_edits.app, name="memory", rich_help_panel=_MEMORY)
app.command("profile", rich_help_panel=_MEMORY)(profile.profile)
app.add_typer(memories.searches_app, name="searches", rich_help_panel=_MEMORY)
app.add_typer(graph.app, name="graph", rich_help_panel=_MEMORY)
app.add_typer(reports.summaries_app, name="summaries", rich_help_panel=_MEMORY)
app.command("ingest", rich_help_panel=_MEMORY)(documents.ingest)

app.add_typer(events.app, name="events", rich_help_panel=_MEMORY)
app.add_typer(nodes.app, name="nodes", rich_help_panel=_MEMORY)
app.add_typer(nodes.entities_app, name="entities", rich_help_panel=_MEMORY)
app.add_typer(conversations.app, name="conversations", rich_help_panel=_MEMORY)
app.add_typer(reports.app, name="reports", rich_help_panel=_MEMORY)
app.add_typer(publish.app, name="publish", rich_help_panel=_MEMORY)
app.add_typer(reports.subscriptions_app, name="subscriptions", rich_help_panel=_MEMORY)
app.add_typer(nodes.tasks_app, name="tasks", rich_help_panel=_MEMORY)

app.command("chat", rich_help_panel=_MEMORY)(chat.chat)
app.command("mcp", rich_help_panel=_MEMORY)(mcp.mcp)

app.add_typer(agents.app, name="agents", rich_help_panel=_AGENTS)
app.add_typer(investigations.app, name="investigations", rich_help_panel=_AGENTS)
app.add_typer(workflows.app, name="workflow", rich_help_panel=_AGENTS)
app.add_typer(approvals.app, name="approvals", rich_help_panel=_AGENTS)
app.add_typer(approvals.grants_app, name="grants", rich_help_panel=_AGENTS)
app.add_typer(chats.app, name="chats", rich_help_panel=_AGENTS)
app.add_typer(people.app, name="escalations", rich_help_panel=_AGENTS)
app.add_typer(people.candidates_app, name="candidates", rich_help_panel=_AGENTS)
app.add_typer(people.proposals, name="proposals", rich_help_panel=_AGENTS)
app.command("tool-calls", rich_help_panel=_AGENTS)(approvals.tool_calls)
app.add_typer(tickets.app, name="tickets", rich_help_panel=_AGENTS)
app.add_typer(sources.app, name="sources", rich_help_panel=_AGENTS)
app.command("cite", rich_help_panel=_AGENTS)(documents.cite)
app.add_typer(tickets.ticket_sources_app, name="ticket-sources", rich_help_panel=_AGENTS)
app.add_typer(people.personas_app, name="personas", rich_help_panel=_AGENTS)

app.add_typer(feed.app, name="feed", rich_help_panel=_DISCOVERY)
app.add_typer(networks_app, name="network", rich_help_panel=_DISCOVERY)
app.add_typer(contacts.app, name="contact", rich_help_panel=_DISCOVERY)
app.add_typer(negotiations.app, name="negotiation", rich_help_panel=_DISCOVERY)
app.add_typer(intents.app, name="intent", rich_help_panel=_DISCOVERY)
app.add_typer(intents.profile_app, name="member-profile", rich_help_panel=_DISCOVERY)
app.add_typer(opportunities.app, name="opportunity", rich_help_panel=_DISCOVERY)

app.command("cost", rich_help_panel=_OPERATIONS)(cost.cost)
app.command("trace", rich_help_panel=_OPERATIONS)(trace.trace)
app.command("redrive", rich_help_panel=_OPERATIONS)(operations.redrive)
app.command("consolidate", rich_help_panel=_OPERATIONS)(consolidate.consolidate)
app.command("rebuild", rich_help_panel=_OPERATIONS)(ledger.rebuild)
app.command("reembed", rich_help_panel=_OPERATIONS)(embeddings.reembed)
app.command("reindex", rich_help_panel=_OPERATIONS)(embeddings.reindex)
app.command("forget", rich_help_panel=_OPERATIONS)(forget.forget)
app.command("stats", rich_help_panel=_OPERATIONS)(operations.stats)
app.command("taint", rich_help_panel=_OPERATIONS)(taint.taint)
app.add_typer(taint.app, name="taints", rich_help_panel=_OPERATIONS)
app.command("audit-memory", rich_help_panel=_OPERATIONS)(audit_memory.audit_memory)
app.add_typer(ledger.app, name="ledger", rich_help_panel=_OPERATIONS)
app.add_typer(workspace.keys_app, name="keys", rich_help_panel=_OPERATIONS)
app.add_typer(operations.webhooks_app, name="webhooks", rich_help_panel=_OPERATIONS)
app.add_typer(operations.incoming_app, name="incoming-webhooks", rich_help_panel=_OPERATIONS)
app.add_typer(widget.app, name="widget", rich_help_panel=_OPERATIONS)
app.add_typer(channels.app, name="channels", rich_help_panel=_OPERATIONS)
app.add_typer(connectors.app, name="connectors", rich_help_panel=_OPERATIONS)
app.add_typer(workspace.workspaces_app, name="workspace", rich_help_panel=_OPERATIONS)
app.add_typer(workspace.app, name="settings", rich_help_panel=_OPERATIONS)
app.add_typer(search_index.app, name="search-index", rich_help_panel=_OPERATIONS)
app.command("claim", rich_help_panel=_OPERATIONS)(workspace.claim)
app.command("sign-in", rich_help_panel=_OPERATIONS)(sign_in.sign_in)
app.add_typer(sign_in.app, name="people", rich_help_panel=_OPERATIONS)
app.add_typer(scim.app, name="scim", rich_help_panel=_OPERATIONS)


@app.command(
    "bench",
    rich_help_panel=_OPERATIONS,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def bench(ctx: typer.Context) -> None:
    """Measure recall quality and speed over the HTTP API: cairn bench locomo FILE..."""
    main = from_clone("benchmarks.main", "The benchmarks are not part of this installation.")
    main.app(args=ctx.args, prog_name="cairn bench", obj=ctx.obj)


def _complain(message: str, advice: str | None) -> None:
    typer.secho("error: ", fg=typer.colors.RED, err=True, nl=False)
    typer.echo(f"{message} — {advice}" if advice else message, err=True)


def run() -> None:
    """Run the command line."""
    app(obj=Deps(), prog_name="cairn")
