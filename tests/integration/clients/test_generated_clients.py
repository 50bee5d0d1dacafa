"""Clients that are generated from the OpenAPI document: each operation called, its answers typed.

They are made by the commands of the guide, whose own programs are checked, too. Programs are
type-checked and never run.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from infra.local.layout import node_folder
from tests.support.openapi import document

Json = dict[str, Any]
HERE = Path(__file__).parent
GUIDE = (HERE.parents[2] / "docs" / "use" / "api.md").read_text(encoding="utf-8")
PROBLEM = "ProblemDetails"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation as a program calls it: what it must be given, and what comes back."""

    id: str
    method: str
    path: str
    tag: str
    given: tuple[tuple[str, str, str], ...]  # name, where it goes, JSON type or format
    body: tuple[str, ...]
    answers: tuple[str, ...]
    text: bool  # a good answer may be no JSON: a stream, a picture


def operations() -> Iterator[Operation]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield Operation(
                id=operation["operationId"],
                method=method,
                path=path,
                tag=operation["tags"][0].replace(" ", "_").replace("-", "_"),
                given=tuple(
                    (
                        each["name"],
                        each["in"],
                        each["schema"].get("format") or each["schema"]["type"],
                    )
                    for each in operation.get("parameters", ())
                    if each.get("required")
                ),
                body=_body(operation),
                answers=_answers(operation),
                text=any(set(content) - {"application/json"} for content in _good(operation)),
            )


def _kind(schema: Json) -> str:
    return schema.get("format") or schema["type"]


def _body(operation: Json) -> tuple[str, ...]:
    content = operation.get("requestBody", {}).get("content", {})
    return _names(content["application/json"]["schema"]) if content else ()


def _good(operation: Json) -> list[Json]:
    """Return the contents of an operation's good answers."""
    answers = operation["responses"].items()
    return [answer["content"] for status, answer in answers if status < "300"]


def _answers(operation: Json) -> tuple[str, ...]:
    """Return the types of the good answers that are JSON."""
    schemas = [
        content.get("application/json", {}).get("schema", {}) for content in _good(operation)
    ]
    return tuple(dict.fromkeys(name for schema in schemas for name in _names(schema)))


def _names(schema: Json) -> tuple[str, ...]:
    """Return the names of a schema's types; none for one without a name of its own."""
    parts = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return tuple(part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part)


def run(*command: str, folder: Path) -> None:
    """Run a tool and fail with what it said unless it is satisfied."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def of_guide(command: str) -> list[str]:
    """Return the arguments of a command as the guide gives them."""
    return next(line for line in GUIDE.splitlines() if line.startswith(f"{command} ")).split()[1:]


def program_of_guide(language: str) -> str:
    """Return the program of the guide in a language."""
    return GUIDE.split(f"```{language}\n", 1)[1].split("```", 1)[0]


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A folder with the document."""
    (tmp_path / "openapi.json").write_text(json.dumps(document()), encoding="utf-8")
    return tmp_path


# Python


PYTHON_TYPES = {"uuid": "UUID", "string": "str", "integer": "int"}


def python_call(operation: Operation) -> str:
    """Return a function that calls an operation and returns its answer by its type."""
    given = "".join(f", {name}: {PYTHON_TYPES[kind]}" for name, _, kind in operation.given)
    body = f", body: {_python_union(operation.body)}" if operation.body else ""
    passed = "".join(f", {name}={name}" for name, _, _ in operation.given)
    passed += ", body=body" if operation.body else ""
    answers = _python_union((*operation.answers, PROBLEM)) + " | None"
    answers = answers if operation.answers else f"str | {answers}"
    return (
        f"def call_{operation.id}(client: AuthenticatedClient{given}{body}) -> {answers}:\n"
        f"    return {operation.id}.sync(client=client{passed})\n"
    )


def _python_union(names: tuple[str, ...]) -> str:
    return " | ".join(f"models.{name}" for name in names)


def python_program() -> str:
    """Return a module that calls every operation."""
    every = list(operations())
    imports = [f"from cairn_client.api.{each.tag} import {each.id}" for each in every]
    head = ["from uuid import UUID", "from cairn_client import AuthenticatedClient, models"]
    return "\n".join([*head, *imports, "", *map(python_call, every)])


def test_a_python_client_calls_every_operation_and_gets_its_types(described: Path) -> None:
    (described / "config.yml").write_text("post_hooks: []\n", encoding="utf-8")
    made = (*of_guide("openapi-python-client"), "--config", "config.yml", "--fail-on-warning")
    run(sys.executable, "-m", "openapi_python_client", *made, folder=described)
    (described / "program.py").write_text(python_program(), encoding="utf-8")
    (described / "guide.py").write_text(program_of_guide("python"), encoding="utf-8")
    settings = {"include": ["program.py", "guide.py"], "typeCheckingMode": "strict"}
    (described / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, folder=described)


# TypeScript


TYPESCRIPT_TYPES = {"uuid": "string", "string": "string", "integer": "number"}


def typescript_call(operation: Operation) -> str:
    """Return a function that calls an operation and returns its answer by its type."""
    arguments = [f"{name}: {TYPESCRIPT_TYPES[kind]}" for name, _, kind in operation.given]
    options: list[str] = []
    if operation.body:
        arguments.append(f"body: {_typescript_union(operation.body)}")
        options.append("body")
    places = dict.fromkeys(place for _, place, _ in operation.given)
    params = [
        f"{place}: {{ {', '.join(name for name, where, _ in operation.given if where == place)} }}"
        for place in places
    ]
    if params:
        options.append(f"params: {{ {', '.join(params)} }}")
    passed = f", {{ {', '.join(options)} }}" if options else ""
    answers = _typescript_union(operation.answers, text=operation.text)
    return f"""
export async function {operation.id}({", ".join(arguments)}): Promise<{answers}> {{
  const {{ data, error }} = await client.{operation.method.upper()}("{operation.path}"{passed});
  if (error !== undefined) {{
    const problem: S["{PROBLEM}"] = error;
    throw new Error(problem.detail);
  }}
  return data;
}}
"""


def _typescript_union(names: tuple[str, ...], *, text: bool = False) -> str:
    return " | ".join([*(f'S["{name}"]' for name in names), *(["string"] if text else [])])


def typescript_program() -> str:
    """Return a module that calls every operation."""
    head = """import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type S = components["schemas"];
const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8000" });
"""
    return head + "".join(map(typescript_call, operations()))


def test_a_typescript_client_calls_every_operation_and_gets_its_types(described: Path) -> None:
    node = str(node_folder() / "node")
    npm = node_folder().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    shutil.copy(HERE / "package.json", described)
    install = (node, str(npm), "install", "--no-audit", "--no-fund", "--no-package-lock")
    run(*install, folder=described)
    modules = described / "node_modules"
    generator = str(modules / "openapi-typescript" / "bin" / "cli.js")
    run(node, generator, *of_guide("npx")[1:], folder=described)
    (described / "program.ts").write_text(typescript_program(), encoding="utf-8")
    (described / "guide.ts").write_text(program_of_guide("typescript"), encoding="utf-8")
    options = ("--strict", "--noEmit", "--skipLibCheck", "--target", "es2022")
    compiler = (node, str(modules / "typescript" / "bin" / "tsc"))
    resolution = ("--module", "esnext", "--moduleResolution", "bundler")
    run(*compiler, *options, *resolution, "program.ts", "guide.ts", folder=described)
