"""Synthesises the CDK app and deploys it into the emulator; on AWS the same app is deployed."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.local.emulator import ACCOUNT, REGION, Endpoint
from infra.local.layout import Layout, cdk_script, node_folder
from infra.local.processes import StartFailed

CDK_APP = f"{shlex.quote(sys.executable)} -m infra.cdk.app"
BOOTSTRAP_STACK = "CDKToolkit"
STACK_PREFIX = "cairn-local-"
DEPLOYED_FROM = (
    "functions",
    "infra/cdk",
    "layers",
    "shared/cairn",
    "statemachines",
    "cdk.json",
    "uv.lock",
)
NOT_INHERITED = {"PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}
LEFT_OUT = {"__pycache__", ".ruff_cache"}
CDK_SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """One emulator seen as the place a CDK app is deployed to.

    `app` is the command that synthesises, `app_env` what it reads from the environment: the
    CAIRN_* values that the functions get on a laptop.
    """

    layout: Layout
    endpoint: Endpoint
    app: str
    app_env: Mapping[str, str]

    def fingerprint(self) -> str:
        """Changes whenever a new deployment could differ from the last."""
        digest = hashlib.sha256(f"{self.app} {sorted(self.app_env.items())}".encode())
        for path in source_files(self.layout.project):
            digest.update(str(path.relative_to(self.layout.project)).encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def is_deployed(self) -> bool:
        """True when the emulator holds our stacks, all of them complete."""
        ours = [stack for stack in self.stacks() if stack["StackName"].startswith(STACK_PREFIX)]
        return bool(ours) and all(
            stack["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"} for stack in ours
        )

    def bootstrap(self) -> bool:
        """Make CDK's own stack if it is missing; from a folder without cdk.json, which is quick."""
        if any(stack["StackName"] == BOOTSTRAP_STACK for stack in self.stacks()):
            return False
        self._cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", folder=self.layout.emulator)
        return True

    def synthesise(self) -> None:
        """Write the cloud assembly."""
        synthesise(
            self.layout,
            stage="local",
            output=self.layout.cloud_assembly,
            app=self.app,
            env={**self.endpoint.env(), **self.app_env},
            context={"build": str(self.layout.base / "functions")},
        )

    def deploy(self) -> None:
        """Deploy the assembly that was synthesised last."""
        self._cdk(
            "deploy",
            "--all",
            "--app",
            str(self.layout.cloud_assembly),
            "--require-approval",
            "never",
            "--method",
            "direct",
            "--progress",
            "events",
            folder=self.layout.emulator,
        )

    def stacks(self) -> list[dict[str, Any]]:
        """Every stack in the emulator, as CloudFormation describes it."""
        try:
            answer = self.client("cloudformation").describe_stacks()
        except ClientError:
            return []
        return [stack for stack in answer["Stacks"] if stack["StackStatus"] != "DELETE_COMPLETE"]

    def outputs(self) -> dict[str, str]:
        """The outputs of all our stacks by name."""
        return {
            output["OutputKey"]: output["OutputValue"]
            for stack in self.stacks()
            if stack["StackName"] != BOOTSTRAP_STACK
            for output in stack.get("Outputs", [])
        }

    def client(self, service: str) -> Any:
        """A boto3 client of the emulator."""
        return aws_client(self.endpoint, service)

    def _cdk(self, *arguments: str, folder: Path) -> None:
        _run_cdk(arguments, folder=folder, env=_cdk_env(self.layout, self.endpoint.env()))


def synthesise(
    layout: Layout,
    *,
    stage: str,
    output: Path,
    env: Mapping[str, str],
    app: str = CDK_APP,
    context: Mapping[str, str] | None = None,
) -> None:
    """Write the templates of `stage` into `output`; StartFailed with CDK's words if it refuses."""
    chosen = {**(context or {}), "stage": stage}
    arguments = ["synth", "--quiet", "--app", app, "--output", str(output)]
    for name, value in chosen.items():
        arguments += ["-c", f"{name}={value}"]
    _run_cdk(arguments, folder=layout.project, env=_cdk_env(layout, env))


def run_cdk_visibly(arguments: list[str], layout: Layout) -> int:
    """Run CDK in the project with the user's own AWS environment and terminal; its status."""
    env = {**_cdk_env(layout, {}), "CI": os.environ.get("CI", "")}
    command = [str(node_folder() / "node"), str(cdk_script()), *arguments, "--no-notices"]
    return subprocess.run(command, cwd=layout.project, env=env, check=False).returncode


def aws_client(endpoint: Endpoint, service: str) -> Any:
    """A boto3 client of an emulator; `Any` because no stubs cover every service."""
    session: Any = boto3  # its stubs know only the services we have stubs for
    config = Config(
        retries={"max_attempts": 1},
        connect_timeout=5,
        read_timeout=120,
        signature_version="s3v4" if service == "s3" else None,
    )
    return session.client(
        service,
        endpoint_url=endpoint.url,
        region_name=REGION,
        aws_access_key_id=ACCOUNT,
        aws_secret_access_key=endpoint.secret,
        config=config,
    )


def start_anchoring(endpoint: Endpoint) -> bool:
    """Have the audit function verify and anchor all chains, without waiting for it."""
    return _start_audit(endpoint, {"step": "verify_and_anchor"})


def start_resuming(endpoint: Endpoint, lost_before: datetime) -> bool:
    """Have the audit function take up every investigation whose execution ended with the emulator.

    Without waiting for it; what began after `lost_before` is left alone.
    """
    moment = lost_before.isoformat()
    return _start_audit(endpoint, {"step": "sweep_investigations", "lost_before": moment})


def _start_audit(endpoint: Endpoint, event: Mapping[str, str]) -> bool:
    try:
        aws_client(endpoint, "lambda").invoke(
            FunctionName=f"{STACK_PREFIX}audit",
            InvocationType="Event",
            Payload=json.dumps(event),
        )
    except (BotoCoreError, ClientError):
        return False
    return True


def source_files(project: Path) -> Iterator[Path]:
    """Every file a deployment is made of, in a fixed order."""
    for name in DEPLOYED_FROM:
        top = project / name
        paths = sorted(top.rglob("*")) if top.is_dir() else [top]
        for path in paths:
            if path.is_file() and not LEFT_OUT.intersection(path.parts):
                yield path


def _run_cdk(arguments: list[str] | tuple[str, ...], *, folder: Path, env: dict[str, str]) -> None:
    command = [str(node_folder() / "node"), str(cdk_script()), *arguments, "--no-notices"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=CDK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise StartFailed(f"cdk {arguments[0]} took more than {CDK_SECONDS} s") from exc
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise StartFailed(f"cdk {arguments[0]} failed\n{tail}")


def _cdk_env(layout: Layout, extra: Mapping[str, str]) -> dict[str, str]:
    cache = layout.project / ".local" / "cache"
    path = [str(node_folder()), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    inherited = {name: os.environ[name] for name in os.environ if name not in NOT_INHERITED}
    return {
        **inherited,
        "PATH": os.pathsep.join(path),
        "CDK_HOME": str(cache / "cdk"),
        "NODE_COMPILE_CACHE": str(cache / "node"),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(cache / "jsii"),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CI": "true",
        "NO_COLOR": "1",
        **extra,
    }
