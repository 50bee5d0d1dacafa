"""A connector's server: every failure is an answer, and no answer holds a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.connecting import Said, call, listed

from cairn.bundled.serving import (
    Answer,
    Arguments,
    Line,
    Text,
    WriteArguments,
    connector_server,
    reads,
    writes,
)
from cairn.connectors.arguments import bounded
from cairn.connectors.manifest import read_manifest
from cairn.connectors.port import MAX_RESULT_BYTES, ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.safety.tools import Autonomy, Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET = "correct-horse-battery"


class Look(Arguments):
    what: Line
    how: Text = "closely"


class Write(WriteArguments):
    what: Line


ODD_SECRET = 'pa"ss\\word\nin two lines'


def served(
    answer: Any = None, *, raises: Exception | None = None, health: Exception | None = None
) -> Any:
    def run(asked: Any) -> Answer:
        if raises is not None:
            raise raises
        return Answer(value=answer)

    def well() -> Mapping[str, Any]:
        if health is not None:
            raise health
        return {"version": 3}

    tools = [
        reads("look", "Look at it.", Look, run, resource="things/{what}"),
        writes(
            "write", "Write it.", Write, run, dangerous=True, asks_above=Autonomy.PROPOSE,
            forbidden=(Autonomy.INVESTIGATE,), rollback="write",
        ),
    ]  # fmt: skip
    return connector_server(
        "things",
        "2.1.0",
        tools,
        health=well,
        instructions="Things.",
        secrets=[SECRET, "abc", ODD_SECRET],
    )


def look(server: Any) -> Said:
    return call(server, "look", what="it")


def test_tools_are_declared_as_cairn_reads_them() -> None:
    tools = [item.model_dump(by_alias=True, exclude_none=True) for item in listed(served())]
    manifest = read_manifest("things", "2.1.0", tools)
    assert manifest.safe
    write = manifest.tool("write")
    assert write is not None
    assert (write.lane, write.dangerous, write.deduplicates) == (Lane.WRITE, True, True)
    assert write.requires_approval_above_autonomy is Autonomy.PROPOSE
    assert write.forbidden_in_autonomy == {Autonomy.INVESTIGATE}
    assert write.supports_dry_run
    assert write.rollback == "write"
    read = manifest.tool("look")
    assert read is not None
    assert (read.lane, read.resource) == (Lane.READ, "things/{what}")
    assert manifest.tool("healthcheck") is not None
    assert all(tool["inputSchema"]["additionalProperties"] is False for tool in tools)


def test_the_healthcheck_says_how_it_is() -> None:
    assert call(served(), "healthcheck").value == {"ok": True, "version": 3}
    assert call(served(health=Conflict("It is gone.")), "healthcheck").code == "conflict"


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (NotFound("There is none."), "not-found"),
        (ConnectorUnauthorised("Renew it."), "unauthorized"),
        (OutcomeUnknown("Who knows."), "outcome-unknown"),
        (ValidationFailed("No.", errors=[FieldError("what", "is odd")]), "validation-failed"),
        (RuntimeError(f"bug with {SECRET}"), "internal"),
    ],
)
def test_every_failure_is_an_answer_with_its_code(raised: Exception, code: str) -> None:
    said = look(served(raises=raised))
    assert said.is_error
    assert said.code == code
    assert said.text.startswith(f"{code}: ")
    assert SECRET not in said.text


def test_the_session_goes_on_after_a_bug() -> None:
    server = served(raises=RuntimeError("bug"))
    assert look(server).is_error
    assert call(server, "healthcheck").value["ok"]


def test_secrets_of_the_connector_are_taken_out_by_value() -> None:
    said = look(served({"echo": f"it is {SECRET}!", "short": "abc"}))
    assert SECRET not in said.text
    assert said.value["short"] == "abc"
    error = look(served(raises=Conflict(f"{SECRET} is wrong.")))
    assert SECRET not in error.text


def test_secrets_that_json_writes_in_another_way_are_taken_out_too() -> None:
    said = look(served({"echo": f"it is {ODD_SECRET}!", "list": [ODD_SECRET]}))
    assert "pa" not in said.text and "two lines" not in said.text
    assert ODD_SECRET not in look(served(raises=Conflict(f"{ODD_SECRET} is wrong."))).text


def test_credentials_of_others_are_taken_out_by_their_look() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    said = look(served({"rows": [{"note": f"use {token}"}], "password": "hunter2hunter2"}))
    assert token not in said.text
    assert "hunter2hunter2" not in said.text


def test_control_characters_are_taken_out_of_values_and_keys() -> None:
    said = look(served({"a\x1b[31mb": ["\x07bell", "\u202eturned"]}))
    assert said.value == {"ab": ["bell", "turned"]}


def test_long_answers_are_cut_between_characters_and_say_so() -> None:
    for text in ("é" * 80_000, "x" * 100_001, "🏔" * 40_000):
        cut = bounded(text)
        assert len(cut.encode()) <= MAX_RESULT_BYTES
        assert cut.endswith(f"[truncated by cairn: the result was {len(text.encode())} bytes]")
    assert bounded("é" * 50_000) == "é" * 50_000
    assert "truncated" in look(served({"rows": "x" * 200_000})).text


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({}, "what"),
        ({"what": ""}, "what"),
        ({"what": "a\nb"}, "what"),
        ({"what": "a\x00"}, "what"),
        ({"what": "x" * 501}, "what"),
        ({"what": 7}, "what"),
        ({"what": None}, "what"),
        ({"what": "it", "how": "bell\x07"}, "how"),
        ({"what": "it", "hunter2": "hunter2"}, "arguments"),
    ],
)
def test_wrong_arguments_are_named_and_not_repeated(arguments: dict[str, Any], where: str) -> None:
    said = call(served("x"), "look", **arguments)
    assert said.code == "validation-failed"
    assert f"- {where}: " in said.text
    assert "hunter2" not in said.text


def test_a_write_needs_a_key_unless_it_is_dry() -> None:
    assert call(served("x"), "write", what="it").code == "validation-failed"
    assert not call(served("x"), "write", what="it", dry_run=True).is_error
    assert not call(served("x"), "write", what="it", idempotency_key="0193d7a2-7f00").is_error
    assert call(served("x"), "write", what="it", idempotency_key="?").is_error


def test_line_ends_of_other_systems_become_one_kind() -> None:
    assert Look(what="it", how="a\r\nb\tc").how == "a\nb\tc"
