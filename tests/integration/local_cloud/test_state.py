"""What the laptop keeps between runs: private, random, and forgiving about damage."""

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from infra.local import state
from infra.local.environment import read_env_file, synthesis_env, write_env_file
from infra.local.front_door import FrontDoor
from infra.local.layout import PROJECT, Layout
from infra.local.processes import Daemon, StartFailed
from infra.local.progress import Progress
from infra.local.stack import Stack


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(project=PROJECT, base=tmp_path / ".local")
    layout.make()
    return layout


def test_secrets_are_random_and_readable_by_the_user_only(layout: Layout) -> None:
    first = state.save(layout, state.load(layout))
    passwords = {first.superuser_password, first.owner_password, first.app_password}
    other = state.State(root="/other")
    assert len(passwords | {other.superuser_password, other.owner_password}) == 5
    assert (layout.base / "state.json").stat().st_mode & 0o777 == 0o600
    assert first.owner_password not in repr(first)


def test_a_port_that_was_taken_meanwhile_is_not_mistaken_for_our_api(layout: Layout) -> None:
    daemon = Daemon(name="api", pid_file=layout.run / "api.json", log_file=layout.logs / "api.log")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        door = FrontDoor(project=PROJECT, port=port, daemon=daemon, env={})
        with pytest.raises(StartFailed, match=f"port {port} is in use"):
            door.start()
    assert daemon.process() is None


def test_what_was_saved_is_loaded_whatever_else_an_earlier_version_kept(layout: Layout) -> None:
    saved = state.save(layout, state.load(layout))
    assert state.load(layout) == saved
    path = layout.base / "state.json"
    kept = json.loads(path.read_text()) | {"opensearch_transport_port": 9300}
    path.write_text(json.dumps(kept), encoding="utf-8")
    assert state.load(layout) == saved


def test_an_embedder_switched_to_counts_more_than_the_shell_and_reaches_the_functions(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_EMBEDDER", "onnx")
    assert synthesis_env(layout, "url")["CAIRN_MODEL_DIR"] == str(layout.model)
    chosen = {"CAIRN_EMBEDDER": "openai", "CAIRN_OPENAI_EMBEDDING_MODEL": "nomic-embed-text"}
    state.save(layout, replace(state.load(layout), embedder=chosen))
    saved = state.load(layout)
    stack = Stack(layout=layout)
    for env in (stack.cloud(saved).app_env, stack.front_door(saved, {}).env):
        assert {name: env[name] for name in chosen} == chosen


def test_a_damaged_state_is_replaced_by_a_new_one(layout: Layout) -> None:
    (layout.base / "state.json").write_text("{half", encoding="utf-8")
    assert state.load(layout).api_port == 0


def test_up_without_the_passwords_of_its_database_says_so_and_touches_nothing(
    layout: Layout,
) -> None:
    layout.postgres.mkdir()
    (layout.postgres / "PG_VERSION").touch()
    with pytest.raises(StartFailed, match=r"state\.json is missing or damaged"):
        Stack(layout=layout, progress=Progress(quiet=True)).up()
    assert not (layout.base / "state.json").exists()


def test_a_taken_port_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not state.is_free(port)
        assert state.free_port(port, port) > port


def test_the_env_file_is_private_and_keeps_every_character(tmp_path: Path) -> None:
    path = tmp_path / "cairn.env"
    values = {"PLAIN": "postgresql://u:p@/cairn?host=/tmp/x", "ODD": "a 'b' $c & \"d\" # e"}
    write_env_file(path, values)
    assert read_env_file(path) == values
    assert path.stat().st_mode & 0o777 == 0o600
    assert "PLAIN=postgresql://u:p@/cairn?host=/tmp/x\n" in path.read_text(encoding="utf-8")


def test_a_pid_of_another_process_is_not_taken_for_ours(tmp_path: Path) -> None:
    daemon = Daemon(name="x", pid_file=tmp_path / "x.json", log_file=tmp_path / "x.log")
    daemon.pid_file.write_text(f'{{"pid": {os.getpid()}, "started": 1.0}}', encoding="utf-8")
    assert daemon.process() is None
    assert daemon.died()
    assert not daemon.stop()


def test_reset_deletes_data_and_keeps_the_tools(layout: Layout) -> None:
    for name in ("postgres/data", "aws/state", "uv/bin", "cache/jsii"):
        (layout.base / name).mkdir(parents=True, exist_ok=True)
    layout.env_file.touch()
    Stack(layout=layout, progress=Progress(quiet=True)).reset()
    assert {path.name for path in layout.base.iterdir()} == {"uv", "cache", "lock"}


def test_status_of_a_stack_that_never_ran_is_stopped(tmp_path: Path) -> None:
    layout = Layout(project=PROJECT, base=tmp_path / "none")
    assert Stack(layout=layout, progress=Progress(quiet=True)).status()["state"] == "stopped"
    assert not layout.base.exists()


def test_logs_of_an_unknown_service_are_refused(layout: Layout) -> None:
    with pytest.raises(ValueError, match="postgres, aws, api"):
        list(Stack(layout=layout).logs("nonsense"))


def test_logs_show_the_end_of_each_file_with_its_service(layout: Layout) -> None:
    (layout.logs / "api.log").write_text("one\ntwo\n", encoding="utf-8")
    assert list(Stack(layout=layout).logs(lines=1)) == ["api | two"]
    assert list(Stack(layout=layout).logs("api")) == ["one", "two"]
