"""What a child process is started with."""

import json
import sys
from pathlib import Path

import pytest

from cairn.connectors.connector import Launch, Transport
from cairn.connectors.launching import (
    BUNDLED,
    command_of,
    environment_of,
    headers_of,
    is_ours,
    said_secrets,
)
from cairn.kernel.errors import ValidationFailed

OURS = {
    "PATH": "/bin",
    "LANG": "C.UTF-8",
    "HOME": "/root",
    "AWS_SESSION_TOKEN": "x",
    "AWS_LAMBDA_RUNTIME_API": "x",
    "CAIRN_KEY_STORE": "x",
    "LD_LIBRARY_PATH": "/var/lang/lib",
    "PYTHONSTARTUP": "/tmp/evil.py",
}


def launch(**changes: object) -> Launch:
    return Launch(name="one", transport=Transport.STDIO, **changes)  # type: ignore[arg-type]


def test_a_command_gets_what_is_listed_and_what_it_names() -> None:
    asked = launch(command=("run",), config={"env": {"A": "1"}}, secrets={"B": "2"})

    assert environment_of(asked, OURS) == {
        **{"PATH": "/bin", "LANG": "C.UTF-8", "LD_LIBRARY_PATH": "/var/lang/lib"},
        **{"A": "1", "B": "2"},
    }


@pytest.mark.parametrize(
    "name", ["AWS_REGION", "aws_profile", "CAIRN_STAGE", "_X_AMZN_TRACE_ID", "LAMBDA_TASK_ROOT"]
)
def test_names_of_ours_never_go_along_even_when_asked_for(name: str) -> None:
    asked = launch(command=("run",), config={"env": {name: "x"}}, secrets={name: "y"})

    assert is_ours(name)
    assert name not in environment_of(asked, OURS)


def test_a_bundled_one_gets_its_settings_as_json_and_our_modules_only(tmp_path: Path) -> None:
    asked = launch(builtin="postgres", config={"env": {"A": "1"}}, secrets={"dsn": "s"})

    given = environment_of(asked, OURS, [str(tmp_path), "/nowhere", ""])

    assert json.loads(given["CONNECTOR_CONFIG"]) == {"env": {"A": "1"}}
    assert json.loads(given["CONNECTOR_SECRETS"]) == {"dsn": "s"}
    assert given["PYTHONPATH"] == str(tmp_path)
    assert given.keys() <= {
        "PATH",
        "LANG",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONDONTWRITEBYTECODE",
        "CONNECTOR_CONFIG",
        "CONNECTOR_SECRETS",
    }


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_bundled_one_is_started_as_a_module_without_its_folder(name: str) -> None:
    assert command_of(launch(builtin=name)) == [sys.executable, "-P", "-m", BUNDLED[name]]


def test_one_that_does_not_come_with_cairn_is_none() -> None:
    with pytest.raises(ValidationFailed):
        command_of(launch(builtin="m365"))


def test_an_address_gets_headers() -> None:
    asked = launch(url="https://a", config={"headers": {"X-Team": "t"}}, secrets={"Auth": "s"})

    assert headers_of(asked) == {"X-Team": "t", "Auth": "s"}


def test_secrets_are_masked_with_the_passwords_inside_them() -> None:
    asked = launch(builtin="postgres", secrets={"dsn": "postgresql://ada:p%40ss@db/x", "t": "tok"})

    assert set(said_secrets(asked)) == {"postgresql://ada:p%40ss@db/x", "tok", "p%40ss", "p@ss"}
    assert "tok" not in repr(asked)
