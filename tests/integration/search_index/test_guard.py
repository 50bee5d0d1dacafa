"""Who is let in to OpenSearch on the laptop: its port is open to every user of the machine."""

from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest
from tests.support.other_user import as_another_user

if TYPE_CHECKING:
    from tests.plugins.opensearch import OpenSearch

ASK = """
import sys, urllib.error, urllib.request
pid, *urls = sys.argv[1:]
for url in urls:
    try:
        print(urllib.request.urlopen(url, timeout=10).status)
    except urllib.error.HTTPError as refused:
        print(refused.code)
try:
    print("read", open(f"/proc/{pid}/environ").read())
except OSError:
    pass
"""
PATHS = ("/", "/_cat/indices", "/_cluster/health", "/_search", "/_nodes")


def test_it_listens_on_one_port_of_this_machine(opensearch: "OpenSearch") -> None:
    process = opensearch.node.daemon.process()
    assert process is not None
    sockets = process.net_connections("inet")
    listening = [socket.laddr for socket in sockets if socket.status == psutil.CONN_LISTEN]
    assert [(item.ip.removeprefix("::ffff:"), item.port) for item in listening] == [
        ("127.0.0.1", opensearch.node.port)
    ]


def test_another_user_is_refused_and_learns_no_password(opensearch: "OpenSearch") -> None:
    process = opensearch.node.daemon.process()
    assert process is not None
    assert opensearch.node.password not in " ".join(process.cmdline())
    urls = [f"{opensearch.node.address}{path}" for path in PATHS]
    assert as_another_user(ASK, str(process.pid), *urls).split() == ["401"] * len(urls)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "POST", "DELETE"])
@pytest.mark.parametrize("auth", [None, ("cairn", ""), ("cairn", "guess"), ("admin", "admin")])
def test_who_has_not_the_password_is_refused_whatever_is_asked(
    opensearch: "OpenSearch", method: str, auth: tuple[str, str] | None
) -> None:
    paths = {"GET": "/_all", "HEAD": "/other-1", "PUT": "/other-1", "POST": "/_bulk"}
    url = f"{opensearch.node.address}{paths.get(method, '/other-1')}"
    assert httpx.request(method, url, auth=auth).status_code == 401
    assert httpx.get(opensearch.node.url).status_code == 200
    assert not opensearch.connection.client.indices.exists(index="other-1")


def test_a_node_with_another_password_is_not_taken_for_ours(opensearch: "OpenSearch") -> None:
    assert opensearch.node.is_running()
    assert not replace(opensearch.node, password="another").is_running()
