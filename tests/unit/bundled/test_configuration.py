"""What a connector is told by its environment, and how it says that it cannot work with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

import cairn
from cairn.bundled.configuration import ConnectorConfig, configured, from_environment
from cairn.kernel.errors import ValidationFailed


class Shop(ConnectorConfig):
    host: str
    rooms: tuple[str, ...] = ()
    key: SecretStr
    limit: int = 5


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith(("SHOP_", "CONNECTOR_")):
            monkeypatch.delenv(name)


def test_one_variable_a_field_with_the_connectors_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_HOST", "shop.example")
    monkeypatch.setenv("SHOP_ROOMS", '["a", "b"]')
    monkeypatch.setenv("SHOP_KEY", "s3cret-value")
    monkeypatch.setenv("OTHER_LIMIT", "9")
    made = configured(Shop, *from_environment(Shop, "SHOP_"))
    assert (made.host, made.rooms, made.limit) == ("shop.example", ("a", "b"), 5)
    assert made.secrets() == ["s3cret-value"]
    assert "s3cret-value" not in repr(made)


def test_the_hosts_objects_win_over_single_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_HOST", "old.example")
    monkeypatch.setenv("CONNECTOR_CONFIG", '{"host": "new.example", "limit": 7}')
    monkeypatch.setenv("CONNECTOR_SECRETS", '{"key": "s3cret-value"}')
    made = configured(Shop, *from_environment(Shop, "SHOP_"))
    assert (made.host, made.limit) == ("new.example", 7)


@pytest.mark.parametrize("text", ["[]", "{", '"x"', "5"])
def test_what_is_no_object_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("CONNECTOR_SECRETS", text)
    with pytest.raises(ValidationFailed) as refused:
        from_environment(Shop, "SHOP_")
    assert [error.location for error in refused.value.errors] == ["CONNECTOR_SECRETS"]


def test_wrong_fields_are_named_and_their_values_are_not() -> None:
    with pytest.raises(ValidationFailed) as refused:
        configured(Shop, {"host": 5, "limit": "hunter2", "unknown": "hunter2"}, {"key": "k"})
    assert {error.location for error in refused.value.errors} == {"host", "limit", "unknown"}
    assert "hunter2" not in str(refused.value) + str(refused.value.errors)


@pytest.mark.parametrize("module", ["accounts", "github_issues", "http", "postgres", "zoho_desk"])
def test_a_process_without_settings_says_what_is_missing_and_ends(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"cairn.bundled.{module}"],
        env={"PYTHONPATH": str(Path(cairn.__file__).parents[1])},
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("The connector cannot work with its settings.\n- ")
    assert "Traceback" not in done.stderr
