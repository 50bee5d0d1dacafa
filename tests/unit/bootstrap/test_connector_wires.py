"""Where bundled connectors lead is the deployment's to say, not the workspace's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest

from cairn.bootstrap.connectors import ConnectorWires
from cairn.connectors.connector import Launch, Transport
from cairn.connectors.launching import BUNDLED, LEADING_OUT
from cairn.kernel.errors import ValidationFailed

INSIDE = {"rules": [{"url": "http://127.0.0.1:8080/*"}], "allow_private": True}


@dataclass(frozen=True)
class Settings:
    webhooks: Literal["off", "public", "private"]
    stage: Literal["local", "prod"] = "prod"
    connector_commands: Path | None = None


def opened(webhooks: Any, config: dict[str, Any]) -> None:
    launch = Launch(name="http", transport=Transport.IN_PROCESS, builtin="http", config=config)
    wire = ConnectorWires(Settings(webhooks))(launch)

    async def run() -> None:
        async with wire.open():
            pass

    anyio.run(run)


def test_a_laptop_lets_a_connector_lead_inside() -> None:
    opened("private", INSIDE)
    opened("private", {"rules": INSIDE["rules"]})


def test_a_workspace_cannot_let_a_connector_lead_inside() -> None:
    for config in (INSIDE, {**INSIDE, "allow_private": "yes"}):
        with pytest.raises(ValidationFailed) as refused:
            opened("public", config)
        assert "https://" in str(refused.value.errors)


def test_a_workspace_can_hold_its_own_connector_back() -> None:
    with pytest.raises(ValidationFailed):
        opened("private", {**INSIDE, "allow_private": False})


def test_nothing_leads_out_where_nothing_may_leave() -> None:
    assert set(BUNDLED) >= LEADING_OUT
    for name in LEADING_OUT:
        launch = Launch(name=name, transport=Transport.STDIO, builtin=name)
        with pytest.raises(ValidationFailed) as refused:
            ConnectorWires(Settings("off"))(launch)
        assert "CAIRN_WEBHOOKS is off" in refused.value.detail
