# /// script
# requires-python = ">=3.11"
# dependencies = ["datamodel-code-generator==0.89.0"]
# ///
"""Make what is generated of the clients.

Of Python models, operations and the client without `await`; of TypeScript the operations (its types
are made by openapi-typescript).

`make clients` runs it over the API's OpenAPI document; a test holds that nothing differs. Types are
made by datamodel-code-generator, the generator of the field for pydantic. What bounds a value is
left to the server, and an answer's enumeration may gain values: an older client reads them too.
"""

import argparse
import json
import re
import textwrap
from pathlib import Path
from typing import Any

from datamodel_code_generator import DataModelType, InputFileType, LiteralType, PythonVersion
from datamodel_code_generator import generate as generate_models

Json = dict[str, Any]
CLIENTS = Path(__file__).resolve().parents[1] / "clients"
PYTHON = Path("python", "src", "cairn_memory")
TYPESCRIPT = Path("typescript", "src")
HEADER = '"""{title} Made by scripts/clients.py: do not edit."""\n'
BOUNDS = {
    *("maxLength", "minLength", "pattern", "maxItems", "minItems"),
    *("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"),
}
READS = {
    "search",
    "context",
    "query_subgraph",
    "query_nodes",
    "search_conversations",
    "refresh_memories",
}
"""Operations that do no more when they come twice, though they are sent with a body."""
TO_SYNC = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(Client|Iterator|Memory)\b", r"\1"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_(lines|bytes)\b", r"iter_\1"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bawithin\b", "within"),
    (r"^import asyncio$", "import time"),
    (r"^( +)for item in page.items:\n +yield item$", r"\1yield from page.items"),
)


def main() -> None:
    """Write the modules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path, help="the OpenAPI document, as JSON")
    parser.add_argument("--output", type=Path, default=CLIENTS)
    given = parser.parse_args()
    document: Json = json.loads(given.document.read_text(encoding="utf-8"))
    written = {
        PYTHON / "models.py": models(document),
        PYTHON / "operations.py": operations(document),
        PYTHON / "_sync.py": synchronous((CLIENTS / PYTHON / "_async.py").read_text("utf-8")),
        TYPESCRIPT / "operations.ts": typescript_operations(document),
    }
    for path, text in written.items():
        (given.output / path).parent.mkdir(parents=True, exist_ok=True)
        (given.output / path).write_text(text, encoding="utf-8")


# Models


def models(document: Json) -> str:
    """Return a pydantic model for each schema of the document."""
    schemas: Json = document["components"]["schemas"]
    sent = _sent(document)
    plain = {
        name: _without_bounds(
            schema if name in sent or _names_values(schema) else _lenient(schema, schemas)
        )
        for name, schema in schemas.items()
        if name in sent or not _names_values(schema)  # others are parameters' alone
    }
    text = generate_models(
        json.dumps(
            {"openapi": "3.1.0", "info": {"title": "Cairn", "version": "1"}, "paths": {}}
            | {"components": {"schemas": plain}}
        ),
        input_file_type=InputFileType.OpenAPI,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        base_class="cairn_memory._model.Model",
        enum_field_as_literal=LiteralType.All,
        use_schema_description=True,
        use_field_description=True,
        use_inline_field_description=True,
        use_single_line_docstring=True,
        use_standard_collections=True,
        use_union_operator=True,
        collapse_root_models=True,
        strict_nullable=True,
        disable_timestamp=True,
        formatters=[],
    )
    assert isinstance(text, str)
    body = text.partition("from __future__")
    return HEADER.format(title="The types of the API.") + "\n" + body[1] + body[2]


def _sent(document: Json) -> set[str]:
    """Return the names of the schemas that requests are made of."""
    schemas = document["components"]["schemas"]
    names: set[str] = set()
    waiting = [
        operation.get("requestBody", {})
        for methods in document["paths"].values()
        for operation in methods.values()
    ]
    while waiting:
        for name in _refs(waiting.pop()) - names:
            names.add(name)
            waiting.append(schemas[name])
    return names


def _refs(value: Any) -> set[str]:
    found = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(value))
    return set(found)


def _without_bounds(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {
            key: _without_bounds(part)
            for key, part in value.items()
            if not (key in BOUNDS and not isinstance(part, dict))
        }
        if kept.get("additionalProperties") is False:
            del kept["additionalProperties"]
        return kept
    return [_without_bounds(part) for part in value] if isinstance(value, list) else value


def _names_values(schema: Json) -> bool:
    return schema.get("type") == "string" and "enum" in schema


def _lenient(value: Any, schemas: Json) -> Any:
    """Return a schema of an answer, whose enumerations of strings take other strings too."""
    if isinstance(value, list):
        return [_lenient(part, schemas) for part in value]
    if not isinstance(value, dict):
        return value
    named = schemas.get(str(value.get("$ref", "")).rpartition("/")[2], value)
    if _names_values(named):
        shown = {key: value[key] for key in ("description", "default") if key in value}
        return {"anyOf": [{"type": "string", "enum": named["enum"]}, {"type": "string"}]} | shown
    return {key: _lenient(part, schemas) for key, part in value.items()}


# Operations


def operations(document: Json) -> str:
    """Return a function for each operation, which makes its call."""
    schemas = document["components"]["schemas"]
    head = HEADER.format(title="Every operation of the API, as a call to make.")
    imports = """
from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from cairn_memory import models
from cairn_memory._call import Call, part, present
"""
    functions = [
        _function(method, path, operation, schemas)
        for path, methods in sorted(document["paths"].items())
        for method, operation in methods.items()
    ]
    return head + imports + "".join(functions)


def _function(method: str, path: str, operation: Json, schemas: Json) -> str:
    parameters: list[Json] = operation.get("parameters", [])
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    named = [each for each in parameters if each["in"] != "path"]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    signature = [f"{name}: UUID | str" for name in in_path]
    if body:
        signature.append(f"body: {_type(body['schema'], schemas)}")
    if named:
        signature.append("*")
    signature += [_parameter(each, schemas) for each in sorted(named, key=_optional)]
    answer = _answer(operation, schemas)
    passed = [f'method="{method.upper()}"', f"path={_path(path)}", f"answer={answer}"]
    query = [each["name"] for each in named if each["in"] == "query"]
    if query:
        passed.append(f"query={{{', '.join(f'{json.dumps(q)}: {_name(q)}' for q in query)}}}")
    if body:
        passed.append("body=body")
    headers = [each["name"] for each in named if each["in"] == "header"]
    if headers:
        pairs = ", ".join(f"{json.dumps(name)}: {_name(name)}" for name in headers)
        passed.append(f"headers=present({{{pairs}}})")
    if "idempotency-key" in headers:
        passed.append("keyed=True")
    if operation["operationId"] in READS:
        passed.append("reads=True")
    lines = "".join(f"    {part},\n" for part in signature)
    opened = f"(\n{lines})" if signature else "()"
    text = _docstring(operation)
    call = "".join(f"        {part},\n" for part in passed)
    return (
        f"\n\ndef {operation['operationId']}{opened} -> Call[{answer}]:\n"
        f"{text}    return Call(\n{call}    )\n"
    )


def _optional(parameter: Json) -> bool:
    return not parameter.get("required", False)


def _name(name: str) -> str:
    return name.replace("-", "_")


def _path(path: str) -> str:
    filled = re.sub(r"\{(\w+)\}", r"{part(\1)}", path)
    return f'f"{filled}"' if "{" in path else f'"{path}"'


def _parameter(parameter: Json, schemas: Json) -> str:
    kind = _type(parameter["schema"], schemas)
    if parameter.get("required"):
        return f"{_name(parameter['name'])}: {kind}"
    kind = kind if kind.endswith("| None") else f"{kind} | None"
    return f"{_name(parameter['name'])}: {kind} = None"


def _type(schema: Json, schemas: Json) -> str:
    """Return the annotation of a parameter or a body."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        named = schemas[name]
        return _type(named, schemas) if named.get("type") == "string" else f"models.{name}"
    parts = schema.get("anyOf") or schema.get("oneOf")
    if parts:
        return " | ".join(dict.fromkeys(_type(part, schemas) for part in parts))
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    if schema.get("format") in ("date-time", "uuid"):
        return "datetime" if schema["format"] == "date-time" else "UUID | str"
    plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
    return plain.get(schema.get("type", ""), "None" if schema.get("type") == "null" else "Any")


def _answer(operation: Json, schemas: Json) -> str:
    good = [
        content
        for status, answer in operation["responses"].items()
        if status < "300"
        for content in [answer["content"]]
    ]
    kinds = [
        _type(content["application/json"]["schema"], schemas)
        for content in good
        if "application/json" in content
    ]
    text = ["str"] if any(set(content) - {"application/json"} for content in good) else []
    return " | ".join(dict.fromkeys([*" | ".join(kinds).split(" | "), *text])) if kinds else "str"


def _docstring(operation: Json) -> str:
    summary = operation["summary"].rstrip(".")
    summary += "" if summary.endswith("?") else "."
    more = textwrap.fill(
        operation.get("description", ""), 92, initial_indent="    ", subsequent_indent="    "
    )
    return f'    """{summary}\n\n{more}\n    """\n' if more else f'    """{summary}"""\n'


# Operations of TypeScript


def typescript_operations(document: Json) -> str:
    """Return a function for each operation, which makes its call."""
    schemas = document["components"]["schemas"]
    head = """/** Every operation of the API, as a call. Made by scripts/clients.py: do not edit. */

import type { Call } from "./call.js";
import type { components } from "./schema.js";

type M = components["schemas"];

function present(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as {
    [name: string]: string;
  };
}
"""
    functions = [
        _typescript_function(method, path, operation, schemas)
        for path, methods in sorted(document["paths"].items())
        for method, operation in methods.items()
    ]
    return head + "".join(functions)


def _typescript_function(method: str, path: str, operation: Json, schemas: Json) -> str:
    parameters: list[Json] = operation.get("parameters", [])
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    signature = [f"{_camel(each['name'])}: string" for each in parameters if each["in"] == "path"]
    passed = [f'method: "{method.upper()}"', f"path: {_typescript_path(path)}"]
    if body:
        signature.append(f"body: {_typescript_type(body['schema'], schemas)}")
        passed.append("body")
    for place in ("query", "header"):
        named = [each for each in parameters if each["in"] == place]
        if not named:
            continue
        name = "headers" if place == "header" else place
        signature.append(_typescript_options(name, named, schemas))
        passed.append("headers: present(headers)" if place == "header" else "query")
    if any(each["name"] == "idempotency-key" for each in parameters):
        passed.append("keyed: true")
    if operation["operationId"] in READS:
        passed.append("reads: true")
    answer = _typescript_answer(operation, schemas)
    lines = "".join(f"\n  {part}," for part in signature)
    opened = f"({lines}\n)" if signature else "()"
    summary = operation["summary"].rstrip(".")
    return (
        f"\n/** {summary}{'' if summary.endswith('?') else '.'} */\n"
        f"export function {_camel(operation['operationId'])}{opened}: Call<{answer}> {{\n"
        f"  return {{ {', '.join(passed)} }};\n}}\n"
    )


def _typescript_options(name: str, parameters: list[Json], schemas: Json) -> str:
    required = any(each.get("required") for each in parameters)
    fields = "; ".join(
        f"{json.dumps(each['name']) if '-' in each['name'] else each['name']}"
        + (": " if each.get("required") else "?: ")
        + _typescript_type(each["schema"], schemas)
        + ("" if each.get("required") else " | undefined")
        for each in parameters
    )
    return f"{name}: {{ {fields} }}" + ("" if required else " = {}")


def _typescript_type(schema: Json, schemas: Json) -> str:
    if "$ref" in schema:
        return f'M["{schema["$ref"].rpartition("/")[2]}"]'
    parts = schema.get("anyOf") or schema.get("oneOf")
    if parts:
        kinds = [_typescript_type(part, schemas) for part in parts if part.get("type") != "null"]
        return " | ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    plain = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
    return plain.get(schema.get("type", ""), "unknown")


def _typescript_answer(operation: Json, schemas: Json) -> str:
    kinds = [
        _typescript_type(answer["content"]["application/json"]["schema"], schemas)
        for status, answer in operation["responses"].items()
        if status < "300" and "application/json" in answer["content"]
    ]
    return " | ".join(dict.fromkeys(" | ".join(kinds).split(" | "))) if kinds else "string"


def _typescript_path(path: str) -> str:
    if "{" not in path:
        return f'"{path}"'
    filled = re.sub(r"\{(\w+)\}", lambda m: f"${{encodeURIComponent({_camel(m[1])})}}", path)
    return f"`{filled}`"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# The client without await


def synchronous(text: str) -> str:
    """Return the module without `await`."""
    for pattern, replacement in TO_SYNC:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    code = text.partition('"""\n')[2]
    return HEADER.format(title="The client.") + code


if __name__ == "__main__":
    main()
