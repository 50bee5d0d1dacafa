from pathlib import Path

import pytest

from cairn.settings.cli import CliSettings, cli_settings, find_laptop_env


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in CliSettings.model_fields:
        monkeypatch.delenv(f"CAIRN_{name.upper()}", raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    (tmp_path / ".local").mkdir()
    lines = [
        "CAIRN_URL=http://127.0.0.1:8700",
        "CAIRN_API_KEY=cairn_abc.secret",
        "CAIRN_DATABASE_URL='postgresql://owner:a b@/cairn?host=%2Ftmp'",
        "AWS_ENDPOINT_URL=http://127.0.0.1:4566",
        "SOMETHING_ELSE=1",
    ]
    (tmp_path / ".local" / "cairn.env").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_the_laptops_file_is_found_from_a_folder_below(laptop: Path) -> None:
    deep = laptop / "a" / "b"
    deep.mkdir(parents=True)
    assert find_laptop_env(deep) == laptop / ".local" / "cairn.env"
    settings = cli_settings(deep)
    assert settings.url == "http://127.0.0.1:8700"
    assert settings.aws_endpoint_url == "http://127.0.0.1:4566"
    assert settings.database_url is not None
    assert settings.database_url.get_secret_value().startswith("postgresql://owner:a b@")


def test_the_environment_wins_over_the_file(laptop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_URL", "https://cairn.example")
    assert cli_settings(laptop).url == "https://cairn.example"


def test_without_a_file_everything_is_unset(tmp_path: Path, laptop: Path) -> None:
    (laptop / ".local" / "cairn.env").unlink()
    assert cli_settings(tmp_path).model_dump() == dict.fromkeys(CliSettings.model_fields)


def test_secrets_do_not_show_in_a_repr(laptop: Path) -> None:
    shown = repr(cli_settings(laptop))
    assert "cairn_abc.secret" not in shown
    assert "owner:a b" not in shown
