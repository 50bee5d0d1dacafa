"""One place reads the environment, and what it reads is what the functions and the guide name."""

import ast
import re
from pathlib import Path

import pytest
from infra.cdk.functions import discover
from infra.local.environment import SERVER
from pydantic import BaseModel

from cairn.settings import SETTINGS, ApiSettings, RetrieveSettings, ServerSettings
from cairn.settings.cli import CliSettings

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "operate" / "configuration.md"
ROW = re.compile(r"^\| `([A-Z_]+)` \| ([^|]*) \| ([^|]*) \|", re.MULTILINE)
READERS = {
    "shared/cairn/bundled/configuration.py",  # processes of their own, which know no settings
    "shared/cairn/settings/__init__.py",
    "shared/cairn/settings/cli.py",
}
FOLDERS = ("shared", "functions", "benchmarks")


def names(model: type[BaseModel]) -> set[str]:
    return {
        str(field.validation_alias or f"CAIRN_{name}").upper()
        for name, field in model.model_fields.items()
    }


def required(model: type[BaseModel]) -> set[str]:
    return {
        f"CAIRN_{name}".upper() for name, field in model.model_fields.items() if field.is_required()
    }


def documented() -> dict[str, tuple[set[str], str]]:
    """Setting -> (who reads it, what holds when it is absent)."""
    rows = ROW.findall(GUIDE.read_text(encoding="utf-8"))
    return {name: (set(readers.split(", ")), default.strip()) for name, readers, default in rows}


def reads_the_environment(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in ("environ", "getenv", "BaseSettings")):
        return False
    return any(
        (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.Name) and node.id in {"BaseSettings", "environ", "getenv"})
        for node in ast.walk(ast.parse(text))
    )


def test_settings_is_the_only_reader_of_the_environment() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if reads_the_environment(path)
    }
    assert readers == READERS


def test_every_function_declares_what_it_reads() -> None:
    functions = discover()
    declared = {function: set(functions[function].settings) for function in SETTINGS}
    assert declared == {function: names(model) for function, model in SETTINGS.items()}


def test_the_guide_names_what_every_function_reads() -> None:
    guide = documented()
    told = {
        function: {name for name, (readers, _) in guide.items() if function in readers}
        for function in SETTINGS
    }
    assert told == {function: names(model) for function, model in SETTINGS.items()}


def test_the_guide_names_what_the_command_reads() -> None:
    told = {name for name, (readers, _) in documented().items() if "cli" in readers}
    assert told == names(CliSettings)


def test_the_guide_names_what_a_server_reads_and_the_laptop_hands_it_on() -> None:
    told = {name for name, (readers, _) in documented().items() if "server" in readers}
    assert told == names(ServerSettings) == set(SERVER)


def test_the_guide_says_what_must_be_set() -> None:
    needed = {name for model in SETTINGS.values() for name in required(model)}
    told = {
        name
        for name, (readers, default) in documented().items()
        if default == "required" and readers & set(SETTINGS)
    }
    assert told == needed


def test_the_guide_names_readers_that_exist() -> None:
    readers = {reader for given, _ in documented().values() for reader in given}
    assert readers <= {*SETTINGS, "cli", "migrator", "server", "synth"}


def test_a_missing_setting_is_named_and_no_value_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CAIRN_STAGE", "local")
    monkeypatch.setenv("CAIRN_APP_DATABASE_URL", "")
    monkeypatch.setenv("CAIRN_OPENAI_API_KEY", "sk-canary")
    with pytest.raises(ValueError, match="CAIRN_APP_DATABASE_URL") as refused:
        RetrieveSettings.read()
    assert "canary" not in str(refused.value)
    assert "local" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "origins"),
    [
        ("", ()),
        (" , ", ()),
        ("https://a.example", ("https://a.example",)),
        ("https://a.example, https://b.example", ("https://a.example", "https://b.example")),
    ],
)
def test_cors_origins_are_separated_by_commas_and_off_without_any(
    given: str, origins: tuple[str, ...]
) -> None:
    settings = ApiSettings.model_construct(cors_origins=given)
    assert settings.origins() == origins
