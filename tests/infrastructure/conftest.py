"""Each stage is synthesised once a run: it takes about ten seconds."""

from pathlib import Path

import pytest
from tests.infrastructure.assembly import Assembly, synthesise

GROUPS = ("api", "base", "documents", "llm", "model", "vectors")


@pytest.fixture(scope="session")
def stand_in_layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders where the built layers would be: templates do not depend on what is in them."""
    folder = tmp_path_factory.mktemp("layers")
    for group in GROUPS:
        (folder / group).mkdir()
        (folder / group / "group.txt").write_text(group, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What the laptop cloud gets."""
    folder = tmp_path_factory.mktemp("local")
    return synthesise(folder / "cdk.out", stage="local", build=str(folder / "functions"))


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory, stand_in_layers: Path) -> Assembly:
    """What AWS gets, with the optional parts switched on so that they are checked too."""
    folder = tmp_path_factory.mktemp("prod")
    return synthesise(
        folder / "cdk.out",
        stage="prod",
        layers=str(stand_in_layers),
        build=str(folder / "functions"),
        alarm_email="operator@example.org",
        jwt_issuer="https://login.example.org/",
        jwt_audience="cairn",
        opensearch="true",
        chat_model="bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0",
    )


@pytest.fixture(scope="session")
def smallest(tmp_path_factory: pytest.TempPathFactory, stand_in_layers: Path) -> Assembly:
    """The least a deployment can cost: no option that makes anything more."""
    folder = tmp_path_factory.mktemp("smallest")
    return synthesise(
        folder / "cdk.out",
        stage="prod",
        layers=str(stand_in_layers),
        build=str(folder / "functions"),
        endpoint_zones="1",
        min_acu="0",
    )
