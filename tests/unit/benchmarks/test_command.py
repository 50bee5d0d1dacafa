"""`cairn bench locomo`: what it says when something it needs is missing."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from cairn.cli.deps import Deps
from cairn.cli.main import app
from cairn.settings.cli import CliSettings


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    path = tmp_path / "1.json"
    content = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I have a boat."}],
        "qa": [{"question": "What has Ana?", "evidence": ["D1:1"], "category": 4}],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def run(arguments: list[str], settings: CliSettings) -> tuple[int, str]:
    result = CliRunner().invoke(
        app, ["bench", "locomo", *arguments], obj=Deps(read_settings=lambda: settings)
    )
    return result.exit_code, " ".join(result.output.split())


def test_without_the_functions_database_it_says_what_is_missing(conversation: Path) -> None:
    code, said = run([str(conversation)], CliSettings.model_construct())

    assert code == 1
    assert "CAIRN_APP_DATABASE_URL" in said


def test_without_the_model_it_says_what_is_missing(conversation: Path) -> None:
    settings = CliSettings.model_construct(app_database_url=SecretStr("postgresql:///none"))

    code, said = run([str(conversation)], settings)

    assert code == 1
    assert "CAIRN_MODEL_DIR" in said


def test_a_file_of_another_format_is_named_before_anything_is_connected(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")

    code, said = run([str(path)], CliSettings.model_construct())

    assert code == 1
    assert "other.json" in said


def test_no_file_is_a_usage_error() -> None:
    code, _ = run([], CliSettings.model_construct())

    assert code == 2


def test_leaving_one_out_of_one_is_refused_before_anything_is_connected(conversation: Path) -> None:
    code, said = run([str(conversation), "--leave-one-out"], CliSettings.model_construct())

    assert code == 1
    assert "at least two" in said
