"""Holds every answer that a test's client gets to the OpenAPI document.

A status that an operation does not document fails, and so does a field that its schema does not
name: nothing may be answered that a generated client cannot read.
"""

import json
import re
from datetime import datetime
from functools import cache
from typing import Any, cast
from unittest.mock import Mock

import httpx
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator

from cairn.api.app import create_app

FORMATS = FormatChecker(formats=["uuid"])


@FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@cache
def document() -> dict[str, Any]:
    """Return the document as the app makes it."""
    return create_app(Mock(), log=Mock()).openapi()


def holds(response: httpx.Response) -> httpx.Response:
    """Return a response that is as the document says; AssertionError for any other."""
    path, method = response.request.url.path, response.request.method
    operation = _operation(path, method.lower())
    if operation is None:  # no path of the document: its 404 or 405 is of no operation
        return response
    where = f"{method} {path} {response.status_code}"
    documented = operation["responses"].get(str(response.status_code))
    assert documented is not None, f"{where} is not documented: {response.text[:500]}"
    media_type = response.headers["content-type"].split(";")[0]
    assert media_type in documented["content"], f"{where}: {media_type} is not documented"
    if media_type.endswith("json"):
        schema = json.dumps(documented["content"][media_type]["schema"])
        wrong = best_match(_validator(schema).iter_errors(response.json()))
        place = "" if wrong is None else f"{wrong.json_path}: {wrong.message[:500]}"
        assert wrong is None, f"{where}: {place}"
    return response


@cache
def _routes() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """Return the paths, those without parameters first."""
    paths = sorted(document()["paths"].items(), key=lambda item: (item[0].count("{"), item[0]))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), methods) for path, methods in paths]


def _operation(path: str, method: str) -> dict[str, Any] | None:
    for pattern, methods in _routes():
        if pattern.fullmatch(path):
            return methods.get(method)
    return None


@cache
def _validator(schema: str) -> Validator:
    whole = {**_closed(json.loads(schema)), "components": _components()}
    return Draft202012Validator(whole, format_checker=FORMATS)


@cache
def _components() -> Any:
    return _closed(document()["components"])


def _closed(value: Any) -> Any:
    """Return a schema whose objects have no fields but those it names, unless it says so."""
    if isinstance(value, list):
        return [_closed(part) for part in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    parts = {name: _closed(part) for name, part in cast("dict[str, Any]", value).items()}
    if parts.get("type") == "object" and "properties" in parts:
        parts.setdefault("additionalProperties", False)
    return parts


def sample(name: str) -> Any:
    """Return the smallest value of a schema of the document."""
    return _sample(document()["components"]["schemas"][name])


def _sample(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return sample(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return _sample(schema["anyOf"][-1])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("format") in _OF_FORMATS:
        return _OF_FORMATS[schema["format"]]
    if schema["type"] == "object":
        fields = schema.get("properties", {})
        return {field: _sample(fields[field]) for field in schema.get("required", ())}
    return _OF_TYPES[schema["type"]]


_OF_TYPES = {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None, "array": ()}
_OF_FORMATS = {"uuid": "00000000-0000-0000-0000-000000000001", "date-time": "2026-03-15T10:00:00Z"}
