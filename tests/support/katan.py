"""llm-katan on loopback: an echoing chat server that others wrote, in both wire formats.

Not a dependency: its wheel also brings a package called `tests`, which would hide this one. So it
is unpacked aside, checked against its hash, and only its own package is kept.
"""

from __future__ import annotations

import socket
import sys
from contextlib import contextmanager
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any

import uvicorn
from layers import model
from tests.plugins.waiting import eventually
from tests.support.wheels import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PINNED = (
    "llm-katan==0.22.0"
    " --hash=sha256:d187331d2d23af701e2a3163877852a53fc4d2d83110e2335723478724e18ff0"
)
FOLDER = model.ROOT / "build" / "llm-katan-0.22.0"


@cache
def installed() -> Path:
    """Return the folder to import llm-katan from, fetched once when a fresh clone has none."""
    return unpacked(PINNED, FOLDER, without="tests")


@contextmanager
def echoing(keys: Mapping[str, str], *, rate_limit_after: int = 0) -> Iterator[str]:
    """Serve both formats at the URL this yields; a key other than its provider's is refused."""
    app = _app(
        model_name="echo",
        backend="echo",
        providers=["openai", "anthropic"],
        validate_keys=True,
        api_keys=dict(keys),
        rate_limit_after=rate_limit_after,
        max_concurrent=8,
        dashboard_enabled=False,
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            eventually(lambda: server.started, what="llm-katan serving")
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _app(**config: object) -> Any:
    if str(installed()) not in sys.path:
        sys.path.append(str(installed()))
    from llm_katan.config import ServerConfig  # pyright: ignore[reportMissingImports]
    from llm_katan.server import create_app  # pyright: ignore[reportMissingImports]

    return create_app(ServerConfig(**config))
