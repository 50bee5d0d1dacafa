"""Calls of tools in this process: what is passed on, checked, kept and said."""

from collections.abc import Iterator

import pytest
from tests.support.hosting import Hosting, said, tool

from cairn.ids import new_id
from cairn.mcp_host.port import (
    ConnectorState,
)


@pytest.fixture
def hosting() -> Iterator[Hosting]:
    hosting = Hosting()
    yield hosting
    hosting.host.close()


def test_a_call_reaches_the_tool_and_its_answer_comes_back(hosting: Hosting) -> None:
    desk = hosting.add("desk", tool("find"))
    desk.answers["find"] = said("Ada Lovelace")

    result = hosting.call("desk.find", user="ada")

    assert result.text == "Ada Lovelace"
    assert not result.is_error
    assert result.manifest_version == "1.0.0"
    assert len(result.manifest_hash) == 64
    assert desk.calls[0][:2] == ("find", {"user": "ada"})
    assert hosting.health("desk").state is ConnectorState.READY


def test_a_write_carries_its_idempotency_key_and_its_trace(hosting: Hosting) -> None:
    desk = hosting.add("desk", tool("reset", writes=True, idempotent=True))
    key = new_id()

    hosting.call("desk.reset", user="ada", key=key)

    _, arguments, meta = desk.calls[0]
    assert arguments == {"user": "ada", "idempotency_key": str(key)}
    assert meta["cairn/idempotency-key"] == str(key)
    assert meta["traceparent"].startswith("00-0af7651916cd43dd8448eb211c80319c-")
