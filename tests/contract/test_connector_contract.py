"""Each check of the contract can fail: connectors that break one promise, and only that one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp import StdioServerParameters
from mcp.server.lowlevel import Server

from cairn.bundled.contract import Call, Samples, WriteSample, arguments_for, read_samples, words_of
from cairn.bundled.examination import NAMES, Check, Status, examine
from cairn.kernel.errors import ValidationFailed

Listed = dict[str, dict[str, Any]]
Answered = Callable[[str, dict[str, Any]], tuple[str, bool]]

TEXT = {"type": "string"}
KEYS = {"idempotency_key": TEXT, "dry_run": {"type": "boolean"}}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def good() -> Listed:
    """The tools of a connector that keeps every promise."""
    write = {"scope": "write", "supports_dry_run": True, "idempotent": True}
    return {
        "healthcheck": {"schema": closed(), "meta": {"scope": "read"}, "description": "Well?"},
        "notes": {
            "schema": closed(words=TEXT, many={"type": "boolean"}),
            "meta": {"scope": "read"},
            "description": "List the notes.",
        },
        "add_note": {
            "schema": closed(note=TEXT, **KEYS),
            "meta": write,
            "description": "Add a note.",
        },
        "delete_notes": {
            "schema": closed(**KEYS),
            "meta": {**write, "dangerous": True},
            "description": "Delete all notes.",
        },
    }


class Notes:
    """What the good connector does; faults replace a tool's answer."""

    def __init__(self, tools: Listed, **faults: Answered) -> None:
        self.tools, self.faults = tools, faults
        self.notes: list[str] = []
        self.keys: set[str] = set()

    def answer(self, name: str, given: dict[str, Any]) -> tuple[str, bool]:
        if name in self.faults:
            return self.faults[name](name, given)
        if set(given) - set(self.tools[name]["schema"]["properties"]):
            return "unknown arguments", True
        if name == "notes":
            many = json.dumps(self.notes) + "x" * (200_000 if given.get("many") else 0)
            return (many[:90_000] + "[truncated]", False) if len(many) > 90_000 else (many, False)
        is_write = name != "healthcheck" and not given.get("dry_run")
        if is_write and given["idempotency_key"] not in self.keys:
            self.keys.add(given["idempotency_key"])
            self.notes = [] if name == "delete_notes" else [*self.notes, given["note"]]
        return "done", False


def server(notes: Notes, version: str = "1.0.0") -> Server[Any]:
    async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=one["description"],
                    input_schema=one["schema"],
                    annotations=one.get("annotations"),
                    _meta={"cairn/tool": one["meta"]} if one["meta"] is not None else None,
                )
                for name, one in notes.tools.items()
            ]
        )

    async def on_call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        name = params.name
        if name not in notes.tools and name not in notes.faults:
            return types.CallToolResult(content=[], is_error="any" not in notes.faults)
        text, failed = notes.answer(name, dict(params.arguments or {}))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=failed
        )

    return Server("notes", version=version, on_list_tools=on_list_tools, on_call_tool=on_call_tool)


SAMPLES = Samples(
    large=Call(tool="notes", arguments={"many": True}),
    writes=[
        WriteSample(
            write=Call(tool="add_note", arguments={"note": "hello"}), shown_by=Call(tool="notes")
        )
    ],
)


def failed(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.detail for check in checks if check.status is Status.FAILED}


def examined(
    change: Callable[[Listed], None] | None = None,
    version: str = "1.0.0",
    samples: Samples = SAMPLES,
    **faults: Answered,
) -> dict[str, str]:
    tools = good()
    if change is not None:
        change(tools)
    return failed(examine(server(Notes(tools, **faults), version), samples))


def test_a_good_connector_breaks_no_promise() -> None:
    checks = examine(server(Notes(good())), SAMPLES)
    assert [check.name for check in checks] == list(NAMES)
    assert {check.status for check in checks} == {Status.PASSED}


def test_without_samples_two_checks_are_skipped_and_nothing_is_written() -> None:
    notes = Notes(good())
    checks = examine(server(notes))
    skipped = [check.name for check in checks if check.status is Status.SKIPPED]
    assert skipped == ["large_result_truncated", "idempotency"]
    assert notes.notes == []
    assert notes.keys == set()


def test_a_slow_start_breaks_the_first_promise() -> None:
    seen = failed(examine(server(Notes(good())), SAMPLES, initialize_seconds=0.0))
    assert set(seen) == {"initialize"}


@pytest.mark.parametrize("version", ["", "one", "1.2", "v1.0.0", "1.0.0 beta"])
def test_a_version_that_is_no_semantic_one(version: str) -> None:
    assert set(examined(version=version)) == {"manifest_version"}


def no_description(tools: Listed) -> None:
    tools["notes"]["description"] = " "


def no_tools(tools: Listed) -> None:
    tools.clear()


def no_scope(tools: Listed) -> None:
    tools["notes"]["meta"] = None


def dotted_name(tools: Listed) -> None:
    tools["other.notes"] = tools.pop("notes")


@pytest.mark.parametrize("change", [no_description, no_tools, no_scope, dotted_name])
def test_a_listing_nobody_can_rely_on(change: Callable[[Listed], None]) -> None:
    seen = examined(change)
    assert "tools_list" in seen


def unknown_scope(tools: Listed) -> None:
    tools["notes"]["meta"] = {"scope": "look"}


def mistyped(tools: Listed) -> None:
    tools["delete_notes"]["meta"] |= {"dangerous": "yes"}


def unknown_level(tools: Listed) -> None:
    tools["add_note"]["meta"] |= {"requires_approval_above_autonomy": "sometimes"}


def open_schema(tools: Listed) -> None:
    del tools["notes"]["schema"]["additionalProperties"]


@pytest.mark.parametrize("change", [unknown_scope, mistyped, unknown_level, open_schema])
def test_a_declaration_that_cannot_be_read(change: Callable[[Listed], None]) -> None:
    assert "tool_scopes_wellformed" in examined(change)


def not_dangerous(tools: Listed) -> None:
    tools["delete_notes"]["meta"] |= {"dangerous": False}


def hinted(tools: Listed) -> None:
    tools["add_note"]["annotations"] = types.ToolAnnotations(destructive_hint=True)


@pytest.mark.parametrize("change", [not_dangerous, hinted])
def test_a_destructive_tool_that_does_not_say_so(change: Callable[[Listed], None]) -> None:
    assert set(examined(change)) == {"dangerous_flagged"}


def undeclared_dry_run(tools: Listed) -> None:
    tools["add_note"]["meta"] |= {"supports_dry_run": False}


def test_a_write_without_a_dry_run() -> None:
    assert set(examined(undeclared_dry_run)) == {"dry_run_supported"}


def no_key(tools: Listed) -> None:
    del tools["delete_notes"]["schema"]["properties"]["idempotency_key"]


def test_a_write_that_takes_no_key() -> None:
    assert set(examined(no_key)) == {"idempotency_key_accepted"}


def no_healthcheck(tools: Listed) -> None:
    del tools["healthcheck"]


def test_a_connector_that_does_not_say_how_it_is() -> None:
    assert set(examined(no_healthcheck)) == {"healthcheck"}
    sick = examined(healthcheck=lambda name, given: ("the database is gone", True))
    assert set(sick) == {"healthcheck"}


def test_a_tool_that_takes_anything() -> None:
    assert set(examined(notes=lambda name, given: ("[truncated]", False))) == {
        "bad_input_refused",
        "idempotency",
    }
    assert set(examined(any=lambda name, given: ("", False))) == {"bad_input_refused"}


@pytest.mark.parametrize("is_error", [True, False])
def test_a_tool_that_echoes_what_it_was_given(is_error: bool) -> None:
    def echo(name: str, given: dict[str, Any]) -> tuple[str, bool]:
        return f"cannot find {given}", is_error or "cairn_made_this_up" in given

    assert "redaction_noleak" in examined(add_note=echo)


@pytest.mark.parametrize(
    "text",
    ["x" * 100_001, "x" * 50_000, '{"rows": [], "truncated": false, "next_page": null}'],
    ids=["too large", "cut without a word", "says that it is whole"],
)
def test_a_large_result_that_is_not_cut_or_not_said_to_be(text: str) -> None:
    def large(name: str, given: dict[str, Any]) -> tuple[str, bool]:
        return text, bool(given) and "many" not in given

    assert "large_result_truncated" in examined(notes=large)


def test_a_write_that_happens_twice_under_one_key() -> None:
    notes = Notes(good())

    def again(name: str, given: dict[str, Any]) -> tuple[str, bool]:
        if "cairn_made_this_up" in given:
            return "unknown arguments", True
        if not given.get("dry_run"):
            notes.notes = [*notes.notes, given["note"]]
        return "done", False

    notes.faults = {"add_note": again}
    seen = failed(examine(server(notes), SAMPLES))
    assert set(seen) == {"idempotency"}
    assert "twice" in seen["idempotency"]


def test_a_write_that_nothing_shows_is_not_taken_for_good() -> None:
    blind = Samples(
        writes=[
            WriteSample(
                write=Call(tool="add_note", arguments={"note": "x"}),
                shown_by=Call(tool="healthcheck"),
            )
        ]
    )
    assert "does not show" in examined(samples=blind)["idempotency"]


@pytest.mark.parametrize(
    ("script", "seconds", "said"),
    [
        ("raise SystemExit('no settings')", 60, "Connection closed"),
        ("print('hello, I am no server')", 60, "Connection closed"),
        ("import time; time.sleep(600)", 0.1, "no answer within"),
    ],
)
def test_a_command_that_is_no_connector_breaks_every_promise(
    script: str, seconds: float, said: str
) -> None:
    command = StdioServerParameters(command=sys.executable, args=["-c", script])
    seen = failed(examine(command, initialize_seconds=seconds))
    assert set(seen) == set(NAMES)
    assert said in seen["initialize"]


def test_a_command_that_is_not_there_breaks_every_promise() -> None:
    seen = failed(examine(StdioServerParameters(command="/no/such/command")))
    assert set(seen) == set(NAMES)


def test_an_address_where_nobody_is_breaks_every_promise() -> None:
    assert set(failed(examine("http://127.0.0.1:9/mcp"))) == set(NAMES)


def test_words_of_a_name_are_told_apart() -> None:
    assert words_of("deleteUser") == {"delete", "user"}
    assert words_of("hard-delete_now") == {"hard", "delete", "now"}
    assert words_of("undeleted") == {"undeleted"}


def test_arguments_are_made_up_from_any_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "text": TEXT,
            "maybe": {"anyOf": [TEXT, {"type": "null"}]},
            "kind": {"enum": ["a", "b"]},
            "fixed": {"const": 7},
            "many": {"type": "array", "items": {"$ref": "#/$defs/one"}},
            "count": {"type": ["integer", "null"], "minimum": 5},
            "self": {"$ref": "#"},
            "odd": {"$ref": "#/$defs/missing"},
            "none": {"type": []},
        },
        "$defs": {"one": {"type": "object", "properties": {"name": TEXT}}},
    }
    made = arguments_for(schema, text="T")
    assert made["text"] == made["maybe"] == made["odd"] == made["none"] == "T"
    assert (made["kind"], made["fixed"], made["count"]) == ("a", 7, 5)
    assert made["many"] == [{"name": "T"}]
    assert arguments_for({}, text="T") == {}


def test_samples_are_read_from_json() -> None:
    read = read_samples(
        '{"large": {"tool": "notes", "arguments": {"many": true}}, "writes": ['
        '{"write": {"tool": "add_note", "arguments": {"note": "x"}},'
        ' "shown_by": {"tool": "notes"}}]}'
    )
    assert read.large == Call(tool="notes", arguments={"many": True})
    assert read.writes[0].shown_by == Call(tool="notes")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"larg": {}}', '{"large": {"tool": 5}}', '{"writes": [{}]}', "{"]
)
def test_samples_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        read_samples(text)
