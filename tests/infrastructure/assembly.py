"""A synthesised cloud assembly, and the questions the infrastructure tests ask of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = 240


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource of one template."""

    stack: str
    id: str
    body: dict[str, Any]

    @property
    def type(self) -> str:
        return self.body["Type"]

    @property
    def properties(self) -> dict[str, Any]:
        return self.body.get("Properties", {})

    @property
    def path(self) -> str:
        return self.body.get("Metadata", {}).get("aws:cdk:path", self.id)


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """The templates of one stage, by stack name."""

    folder: Path
    templates: Mapping[str, dict[str, Any]]

    def resources(self, *types: str) -> Iterator[Resource]:
        """Every resource, or those of `types`."""
        for stack, template in self.templates.items():
            for id_, body in template.get("Resources", {}).items():
                if not types or body["Type"] in types:
                    yield Resource(stack=stack, id=id_, body=body)

    def types(self) -> set[str]:
        return {resource.type for resource in self.resources()}

    def outputs(self) -> dict[str, Any]:
        """Every output of every stack, by its key."""
        return {
            key: output["Value"]
            for template in self.templates.values()
            for key, output in template.get("Outputs", {}).items()
        }

    def exports(self) -> dict[str, Any]:
        """What one stack lends to the others, by export name."""
        return {
            output["Export"]["Name"]: output["Value"]
            for template in self.templates.values()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }

    def follow(self, value: Any) -> Any:
        """`value`, or what the other stack exported when it is an import."""
        if isinstance(value, dict) and "Fn::ImportValue" in value:
            return self.exports()[value["Fn::ImportValue"]]
        return value


def run_app(folder: Path, **context: str) -> subprocess.CompletedProcess[str]:
    """Run the CDK app as the CLI would, without the CLI: offline, nothing looked up."""
    return run_python("-m", "infra.cdk.app", folder=folder, context=context)


def run_python(
    *arguments: str, folder: Path, context: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python as the CLI runs the app: `folder` gets the assembly, the context is given."""
    chosen = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    inherited = {name: value for name, value in os.environ.items() if "CAIRN" not in name}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    cdk = {"CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps({**chosen, **(context or {})})}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=inherited | cdk | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def synthesise(folder: Path, **context: str) -> Assembly:
    """The assembly the app writes; its own words in the failure when it does not."""
    done = run_app(folder, **context)
    assert done.returncode == 0, done.stdout + done.stderr
    templates = {
        path.name.removesuffix(".template.json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.template.json"))
    }
    return Assembly(folder=folder, templates=templates)
