"""One real OpenSearch node a test run, started on first use; each test module has a clean one.

It needs Java and Maven. Without them these tests are skipped, with the reason; in continuous
integration (CI is set) they fail instead.
"""

import os
import secrets
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.plugins.cloud import first_port

if TYPE_CHECKING:
    from infra.local.opensearch.node import SearchNode

    from cairn.adapters.opensearch.client import Connection


@dataclass(frozen=True, kw_only=True)
class OpenSearch:
    """The run's node and a connection to it."""

    node: "SearchNode"
    connection: "Connection"

    @property
    def url(self) -> str:
        """Where it answers, with its password."""
        return self.node.url

    def kill(self) -> None:
        """Kill the node with -9, as a crash would."""
        process = self.node.daemon.process()
        assert process is not None
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)

    def start(self) -> None:
        """Start it again on the same data."""
        self.node.start()

    def clear(self) -> None:
        """Drop every index."""
        self.connection.client.indices.delete(index="cairn-*,other-*")


@pytest.fixture(scope="session")
def opensearch_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSearch]:
    """The node, started on first use and removed at the end of the run."""
    from infra.local import state
    from infra.local.layout import PROJECT, Layout
    from infra.local.opensearch.node import SearchNode, find_tools
    from infra.local.processes import Daemon

    from cairn.adapters.opensearch.client import Connection

    tools = find_tools()
    if tools.missing and not os.environ.get("CI"):
        pytest.skip(tools.missing)
    layout = Layout(project=PROJECT, base=tmp_path_factory.mktemp("opensearch"))
    layout.make()
    port = state.free_port(0, first_port() + 800)
    node = SearchNode(
        libraries=layout.search_libraries,
        data=layout.base / "opensearch",
        port=port,
        password=secrets.token_hex(16),
        daemon=Daemon(
            name="opensearch",
            pid_file=layout.run / "opensearch.json",
            log_file=layout.logs / "opensearch.log",
        ),
    )
    try:
        node.start()
        yield OpenSearch(node=node, connection=Connection(node.url))
    finally:
        node.stop()
        shutil.rmtree(layout.base, ignore_errors=True)


@pytest.fixture(scope="module")
def opensearch(opensearch_node: OpenSearch) -> OpenSearch:
    """The node without any index, and alive."""
    opensearch_node.start()
    opensearch_node.clear()
    return opensearch_node
