import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.unit.cli.fakes import FakeOperator, Shell

from cairn.cli.deps import Deps
from cairn.forgetting.prove import Looked
from cairn.forgetting.workspaces import WorkspaceDeleted, WorkspaceFound
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


@dataclass
class Deleting(FakeOperator):
    """An owner whose one workspace is called `main`; `left` rows are found after its deletion."""

    deleted: list[UUID] = field(default_factory=list)
    left: int = 0

    def delete_workspace(self, settings: object, owner_url: str) -> "Deleting":
        return self

    def find(self, workspace_id: UUID) -> WorkspaceFound:
        return WorkspaceFound(name="main", deleted_at=None, position=3, hash=b"")

    def __call__(self, workspace_id: UUID, name: str) -> WorkspaceDeleted:
        self.deleted.append(workspace_id)
        return WorkspaceDeleted(
            workspace_id=workspace_id,
            name=name,
            already=False,
            counts={"node": 2},
            clean=not self.left,
            places=(Looked(store="postgresql", place="public.node", items=2, found=self.left),),
            tombstone="tombstones/5.json",
        )


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(Deps, "deployment", lambda _: None)
    return {"database_url": "postgresql://owner@/cairn"}


def test_a_workspace_is_deleted_only_after_its_name_was_typed(owner: dict[str, Any]) -> None:
    operator = Deleting()
    shell = Shell(operator=operator, settings=owner)
    for typed in ("another\n", "\n", ""):
        assert shell.run("workspace", "delete", "main", stdin=typed).exit_code == 1
    assert shell.run("workspace", "delete", "nobody", "--yes").exit_code == 1
    assert Shell(operator=operator).run("workspace", "delete", "main", "--yes").exit_code == 1
    assert operator.deleted == []
    done = shell.run("workspace", "delete", "main", stdin="main\n")
    assert (done.exit_code, "tombstones/5.json" in done.stdout) == (0, True)
    told = json.loads(shell.run("workspace", "delete", str(UUID(int=5)), "-y", "--json").stdout)
    assert (told["clean"], told["counts"]) == (True, {"node": 2})
    assert operator.deleted == [UUID(int=5)] * 2


def test_what_is_left_of_a_workspace_makes_the_command_fail(owner: dict[str, Any]) -> None:
    shell = Shell(operator=Deleting(left=1), settings=owner)
    done = shell.run("workspace", "delete", "main", "--yes")
    assert (done.exit_code, "Something is left" in done.stderr) == (1, True)
