"""Print how large and how roundabout the code is, beside what it was: `make house`.

Counts the sources, and follows one `POST /v1/memories` through the package, in this process, over
a PostgreSQL of its own, with AWS as tests see it. How long the tests take is for `make test`.
"""

import ast
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "shared" / "cairn"
MOVED_OUT = (ROOT / "benchmarks", ROOT / "tests" / "fakes")
MEMORY = {"type": "fact", "client_id": "acme", "importance": 5}
FIELD = "knowledge_category"  # a plain field of a memory: stored and shown
BEFORE = {
    "lines in shared/cairn": 117_029,
    "the same with benchmarks and fakes": 117_029,
    "modules": 896,
    "Protocols": 364,
    "dataclasses": 940,
    "p95 function length": 22,
    "files a new field of a memory touches": 29,
    "files of POST /v1/memories": 47,
    "functions of it": 200,
    "of these only forward, %": 14,
}
"""Measured when the work on the house began; the tests took 33 minutes in CI."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def counted() -> dict[str, int]:
    """Count what stands in the files."""
    from tests.unit.structure.test_functions_are_short import length

    classes = [node for _, node in nodes() if isinstance(node, ast.ClassDef)]
    lengths = sorted(length(node) for _, node in nodes() if isinstance(node, Function))
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".sql"}]
    return {
        "lines in shared/cairn": lines(PACKAGE),
        "the same with benchmarks and fakes": lines(PACKAGE, *MOVED_OUT),
        "modules": sum(path.suffix == ".py" for path in files),
        "Protocols": sum(named("Protocol", node.bases) for node in classes),
        "dataclasses": sum(named("dataclass", node.decorator_list) for node in classes),
        "p95 function length": lengths[int(len(lengths) * 0.95)],
        "files a new field of a memory touches": sum(FIELD in path.read_text() for path in files),
    }


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield what the package's modules are made of, with their paths."""
    for path in PACKAGE.rglob("*.py"):
        yield from ((str(path), node) for node in ast.walk(ast.parse(path.read_text())))


def lines(*folders: Path) -> int:
    """Count the lines of the Python files below folders."""
    files = (path for folder in folders for path in folder.rglob("*.py"))
    return sum(len(path.read_text().splitlines()) for path in files)


def named(name: str, found: list[ast.expr]) -> bool:
    """Return whether a base or a decorator is of this name, with arguments or without."""
    return any(ast.unparse(item).split("(")[0].split("[")[0] == name for item in found)


def walked() -> dict[str, int]:
    """Follow a second request, when everything is imported and built."""
    entered: set[tuple[str, int]] = set()

    def enter(code: CodeType, _offset: int) -> object:
        entered.add((code.co_filename, code.co_firstlineno))
        return sys.monitoring.DISABLE

    tool, event = sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START
    with tempfile.TemporaryDirectory() as folder, api(Path(folder)) as remember:
        remember("The boiler was replaced in March.")
        sys.monitoring.use_tool_id(tool, "house")
        sys.monitoring.register_callback(tool, event, enter)
        sys.monitoring.set_events(tool, event)
        remember("The roof was mended in May.")
        sys.monitoring.set_events(tool, 0)
    functions = [
        (path, node)
        for path, node in nodes()
        if isinstance(node, Function)
        and (path, min(item.lineno for item in [node, *node.decorator_list])) in entered
    ]
    forwarding = sum(only_forwards(node) for _, node in functions)
    return {
        "files of POST /v1/memories": len({path for path, _ in functions}),
        "functions of it": len(functions),
        "of these only forward, %": round(100 * forwarding / len(functions)),
    }


def only_forwards(node: Function) -> bool:
    """Return whether all a function does is one call."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return len(body) == 1 and isinstance(getattr(body[0], "value", None), ast.Call | ast.Await)


@contextmanager
def api(folder: Path) -> Iterator[Callable[[str], object]]:
    """Yield what remembers a text through the wired API, over a cluster made for it."""
    from infra.local.layout import Layout
    from infra.local.postgres import APP_ROLE, OWNER, Cluster
    from infra.local.processes import Daemon
    from tests.support.front import Cloud, Front, environment
    from tests.support.world import open_world

    from cairn.adapters.aws import dispatch, messages
    from cairn.adapters.postgres.migrate import migrate

    layout, password = Layout(project=ROOT, base=folder / "cluster"), secrets.token_hex(16)
    layout.make()
    cluster = Cluster(
        data=layout.postgres,
        socket_folder=layout.socket_folder,
        superuser_password=password,
        daemon=Daemon(name="postgres", pid_file=folder / "pid", log_file=folder / "log"),
    )
    cluster.start()
    try:
        cluster.prepare(owner_password=password)
        owner_url, app_url = (cluster.url(role, password) for role in (OWNER, APP_ROLE))
        migrate(owner_url, password)
        world = open_world(owner_url, app_url, "house")
        world.pool.close()
        os.environ.update(environment(app_url, folder))
        dispatch.aws_client = messages.aws_client = Cloud().client
        front = Front(world.key)
        yield lambda text: front.call("POST", "/v1/memories", json=MEMORY | {"text": text})
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    print(f"{'':42}{'before':>9}{'now':>9}")
    for name, now in (counted() | walked()).items():
        print(f"{name:42}{BEFORE[name]:>9,}{now:>9,}")
