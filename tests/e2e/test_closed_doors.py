"""What listens on the laptop, and who is let in: other users, other pages, who guesses names."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from tests.e2e.tenant import Tenant, good
from tests.support.other_user import as_another_user

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

ROLES = "arn:aws:iam::000000000000:role/"
TRY_ALL = """
import json, os, socket, sys
paths, sockets, url = json.loads(sys.argv[1])
for path in paths:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read()
        print("read", path)
    except OSError:
        pass
for path in sockets:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("connected", path)
    except OSError:
        pass
"""


def listening(laptop: "Laptop") -> set[tuple[str, int]]:
    """Every TCP socket that a process of the stack listens on."""
    daemons = [laptop.stack.emulator(laptop.stack.saved()).daemon]
    daemons += [laptop.stack.front_door(laptop.stack.saved(), {}).daemon]
    daemons += [laptop.stack.cluster(laptop.stack.saved()).daemon]
    servers = [server for daemon in daemons if (server := daemon.process())]
    assert len(servers) == 3
    found: set[tuple[str, int]] = set()
    for process in {
        each for server in servers for each in [server, *server.children(recursive=True)]
    }:
        try:
            sockets = process.net_connections("inet")
        except psutil.NoSuchProcess:
            continue
        found |= {tuple(each.laddr) for each in sockets if each.status == psutil.CONN_LISTEN}
    return found


def test_two_ports_of_this_machine_listen_and_no_other(laptop: "Laptop") -> None:
    saved = laptop.stack.saved()
    ports = {saved.api_port, saved.emulator_port}
    assert listening(laptop) == {("127.0.0.1", port) for port in ports}


def test_another_user_reads_no_file_no_socket_and_no_environment(laptop: "Laptop") -> None:
    layout, saved = laptop.stack.layout, laptop.stack.saved()
    emulator = laptop.stack.emulator(saved).daemon.process()
    assert emulator is not None
    pids = [emulator.pid, *laptop.worker_pids()]
    files = [*layout.base.rglob("*.json"), layout.env_file, *layout.keys.parent.iterdir()]
    folders = [layout.base, layout.postgres, layout.emulator, layout.socket_folder]
    paths = [str(path) for path in [*files, *folders]] + [f"/proc/{pid}/environ" for pid in pids]
    sockets = [str(path) for path in layout.socket_folder.glob(".s.*") if path.is_socket()]
    assert sockets
    assert as_another_user(TRY_ALL, json.dumps([paths, sockets, ""])) == ""
    for folder in folders:  # and not only because a folder above is closed
        assert folder.stat().st_mode & 0o077 == 0, folder


def test_the_credentials_of_a_function_cannot_be_made_from_its_name(laptop: "Laptop") -> None:
    """The emulator makes them from public names; here they are made with the stack's secret."""
    endpoint = laptop.stack.emulator(laptop.stack.saved()).endpoint
    function = laptop.client("lambda").get_function_configuration(FunctionName="cairn-local-embed")
    digest = hashlib.sha256(f"{function['FunctionArn']}:{function['Role']}".encode()).hexdigest()
    guessed = Credentials(
        f"ASIA{digest[:16].upper()}",
        hashlib.sha256(f"secret:{digest}".encode()).hexdigest(),
        hashlib.sha256(f"token:{digest}".encode()).hexdigest(),
    )
    request = AWSRequest("GET", f"{endpoint.url}/2015-03-31/functions")
    SigV4Auth(guessed, "lambda", "us-east-1").add_auth(request)
    answer = httpx.get(request.url, headers=dict(request.headers.items()))
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        "the credentials are not this stack's",
    )


@pytest.mark.parametrize("through", ["uvicorn", "gateway"])
def test_a_page_of_the_api_uploads_a_document(
    laptop: "Laptop", workspace: Tenant, through: str
) -> None:
    tenant = workspace if through == "uvicorn" else workspace.through_gateway()
    ticket = tenant.post("/v1/uploads", {"size": 5, "media_type": "text/plain"})
    pages = {laptop.url: 200, "https://pages.example": 403, "null": 403}
    for origin, status in sorted(pages.items(), key=lambda each: each[1], reverse=True):
        headers = {**ticket["headers"], "Origin": origin}
        answer = httpx.put(ticket["url"], content=b"hello", headers=headers)
        assert answer.status_code == status, origin
        assert answer.headers.get("access-control-allow-origin") == {200: origin}.get(status)


def test_the_gateway_takes_calls_of_programs_and_none_of_pages(
    laptop: "Laptop", workspace: Tenant
) -> None:
    tenant = workspace.through_gateway()
    assert good(tenant.call("GET", "/v1/whoami"))["workspace_id"] == str(workspace.id)
    refused = tenant.call("GET", "/v1/whoami", headers={"Origin": laptop.url})
    assert refused.status_code == 403
    assert tenant.call("OPTIONS", "/v1/whoami", headers={"Origin": "https://a"}).status_code == 403


def test_an_admin_of_a_workspace_runs_no_command_of_his_own(
    laptop: "Laptop", workspace: Tenant, tmp_path: Path
) -> None:
    touched = tmp_path / "touched"
    command = ["touch", str(touched)]
    asked = {"name": "shell", "transport": "stdio", "command": command}
    for tenant in (workspace, workspace.through_gateway()):
        refused = tenant.call("POST", "/v1/connectors", json=asked)
        assert (refused.status_code, "cairn connectors allow" in refused.text) == (422, True)
    assert not touched.exists()
    laptop.allow(["/usr/bin/env", *command])
    workspace.post("/v1/connectors", {**asked, "command": ["/usr/bin/env", *command]})
    assert touched.exists()
