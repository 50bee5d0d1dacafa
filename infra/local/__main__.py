"""`python -m infra.local COMMAND`: what the Makefile calls. The `cairn` CLI uses `stack` itself."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
from rich.console import Console

from cairn.operations.sweep import Backlog
from infra.cdk import web_acl
from infra.cdk.failed_creation import release
from infra.local import stack
from infra.local.cloud import run_cdk_visibly, synthesise
from infra.local.environment import sites_url
from infra.local.layout import PROJECT, default_layout
from infra.local.model import build_model
from infra.local.processes import StartFailed
from infra.local.progress import Progress
from infra.local.workspace import first_link

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = argparse.Namespace


def main() -> int:
    """Run one command; a failure to start is one message, not a traceback."""
    arguments = _parser().parse_args()
    commands: dict[str, Callable[[Arguments], int]] = {
        "run": run,
        "up": up,
        "stop": stop,
        "status": status,
        "logs": logs,
        "reset": reset,
        "synth": synth,
        "deploy": deploy,
        "model": model,
        "migrate": migrate,
    }
    try:
        return commands[arguments.command](arguments)
    except StartFailed as exc:
        print(f"\n{exc}\n\nThe logs are in {default_layout().logs}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def run(arguments: Arguments) -> int:
    """Bring everything up, run the demo on the shipped text, say how to go on."""
    progress = Progress()
    started = time.monotonic()
    progress.say("[bold]Cairn on this machine[/]")
    values = stack.Stack(progress=progress, opensearch=arguments.opensearch).up()
    progress.say()
    failed = subprocess.run(
        [*_cairn(), "demo"], cwd=PROJECT, env={**os.environ, **values}, check=False
    ).returncode
    _farewell(values["CAIRN_URL"], time.monotonic() - started, first_link(values))
    return failed


def up(arguments: Arguments) -> int:
    """Bring everything up without the demo."""
    stack.Stack(progress=Progress(), opensearch=arguments.opensearch).up()
    return 0


def stop(_: Arguments) -> int:
    """Stop what runs; the data stays."""
    stopped = stack.down()
    print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")
    return 0


def status(arguments: Arguments) -> int:
    """Show what runs; exit status 1 when not everything does."""
    report = stack.status()
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        for name, service in report["services"].items():
            pid = service["pid"] or "-"
            print(f"{name:<12}{service['state']:<11}pid {pid!s:<9}{service['where']}")
        for name, state in report["stacks"].items():
            print(f"{name:<24}{state}")
        backlog = Backlog(seconds=report["oldest_waiting_seconds"] or 0)
        if backlog.behind:
            print(f"work has waited {backlog.minutes}: make up, then .venv/bin/cairn doctor")
        print(f"key and URLs: {report['env_file'] or 'none yet, `make run` writes them'}")
    return 0 if report["state"] == "running" else 1


def logs(arguments: Arguments) -> int:
    """Print the end of the logs, and go on with --follow."""
    for line in stack.logs(arguments.service, follow=arguments.follow):
        print(line, flush=True)
    return 0


def reset(arguments: Arguments) -> int:
    """Delete every memory, document, key and ledger entry of the laptop, after a question."""
    if not arguments.force:
        question = "Delete all data of the laptop: ledger, memories, files, keys? [y/N] "
        if not sys.stdin.isatty() or input(question).strip().lower() not in {"y", "yes"}:
            print("nothing was deleted; `make reset FORCE=1` does not ask")
            return 1
    stack.reset()
    print("the laptop stack is gone; `make run` makes a new one")
    return 0


def synth(arguments: Arguments) -> int:
    """Write the CloudFormation templates of a stage into cdk.out/."""
    output = PROJECT / "cdk.out"
    for stale in output.glob("*.template.json"):
        stale.unlink()
    with Progress().step(f"synthesise {arguments.stage}") as line:
        synthesise(default_layout(), stage=arguments.stage, output=output, env={})
        line.says(f"{len(list(output.glob('*.template.json')))} templates in cdk.out/")
    return 0


def deploy(arguments: Arguments) -> int:
    """Deploy the prod stage to the account that the shell's AWS credentials belong to."""
    options: list[str] = arguments.options
    regions = [option.removeprefix("region=") for option in options if option.startswith("region=")]
    session: Any = boto3.Session(region_name=regions[0] if regions else None)
    if release(session, stack="cairn-prod-data"):
        print("the first deployment failed; what is left of its data stack is deleted first")
    chosen = ["-c", "stage=prod", *options]
    if web_acl.is_made(options):
        outputs = PROJECT / "build" / "web-acl.json"
        outputs.parent.mkdir(exist_ok=True)
        rules = ["deploy", web_acl.STACK, *chosen, "--outputs-file", str(outputs)]
        if status := run_cdk_visibly(rules, default_layout()):
            return status
        chosen += ["-c", f"web_acl_arn={web_acl.arn_in(outputs)}"]
    return run_cdk_visibly(["deploy", "--all", *chosen], default_layout())


def model(_: Arguments) -> int:
    """Build the embedding model's folder."""
    build_model(default_layout(), Progress())
    return 0


def migrate(_: Arguments) -> int:
    """Start PostgreSQL if needed and apply the migrations."""
    stack.Stack(progress=Progress()).migrate()
    return 0


def _farewell(url: str, seconds: float, link: str | None) -> None:
    sign_in = f"{link}  (once, within 15 minutes)" if link else f"{url}/"
    Console(highlight=False, soft_wrap=True).print(
        f"\n[bold]Cairn runs at {url}[/]  [dim]({seconds:.0f} s)[/]\n"
        f"  console     {sign_in}\n"
        f"  sites       {sites_url(urlsplit(url).port or 80)}/sites/...  (cairn publish)\n"
        "  admin key   CAIRN_API_KEY in .local/cairn.env, readable by you only\n"
        "  try         .venv/bin/cairn recall 'How much does the half board cost at Tschima?'\n"
        "              .venv/bin/cairn remember 'the staging database moved to port 6432'\n"
        "              .venv/bin/cairn ledger verify\n"
        "  stop        make stop      (make status, make logs, make reset)\n"
    )


def _cairn() -> list[str]:
    return [str(Path(sys.executable).with_name("cairn"))]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "up"):
        commands.add_parser(name).add_argument("--opensearch", action="store_true")
    for name in ("stop", "model", "migrate"):
        commands.add_parser(name)
    commands.add_parser("status").add_argument("--json", action="store_true")
    showing = commands.add_parser("logs")
    showing.add_argument("service", nargs="?", default="", choices=["", *stack.SERVICES])
    showing.add_argument("--follow", "-f", action="store_true")
    commands.add_parser("reset").add_argument("--force", action="store_true")
    commands.add_parser("deploy").add_argument("options", nargs=argparse.REMAINDER)
    stage = commands.add_parser("synth").add_argument("--stage", default="local")
    stage.choices = ["local", "prod"]
    return parser


if __name__ == "__main__":
    sys.exit(main())
