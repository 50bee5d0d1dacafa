"""MCP on the real stack: the official client, the command, and the public conformance suite."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx
import httpx2
import jsonschema
import mcp_types as types
import pytest
import uvicorn
from infra.local.layout import node_folder
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl
from starlette.responses import HTMLResponse
from tests.e2e.cli import COMMAND, environment
from tests.e2e.tenant import Tenant, open_workspace
from tests.plugins.cloud import first_port
from tests.plugins.waiting import eventually
from tests.support.example_server import ExampleEndpoint
from tests.unit.api.fakes import ADMIN_KEY, Lines, World

from cairn.api.app import create_app
from cairn.api.mcp.catalogue import TOOLS, resolve
from cairn.api.mcp.schemas import outline
from cairn.api.options import ApiOptions
from cairn.kernel.access import Role

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

SUITE = Path(__file__).parent / "conformance"


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "mcp")


def with_client(tenant: Tenant, key: str | None, ask: Any) -> Any:
    """Run `ask(client)` over HTTP with a key and return what it returns."""

    async def run() -> Any:
        headers = {"authorization": f"Bearer {key or tenant.key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{tenant.base}/mcp", http_client=http)) as client,
        ):
            return await ask(client)

    return anyio.run(run)


def call(tenant: Tenant, name: str, /, *, holder: str | None = None, **arguments: Any) -> Any:
    """Call a tool with the admin's key, or another holder's."""
    return with_client(tenant, holder, lambda client: client.call_tool(name, arguments))


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(each.text for each in result.content if isinstance(each, types.TextContent))


def test_what_one_agent_remembers_another_recalls(tenant: Tenant) -> None:
    told = call(tenant, "memory_remember", text="The boiler is serviced every May.", key="boiler")
    assert told.structured_content["outcome"] == "created"
    found = call(tenant, "memory_recall", query="when is the boiler serviced?")
    assert not found.is_error
    assert "serviced every May" in text_of(found)
    whole = call(tenant, "node_get", id=told.structured_content["id"])
    assert "boiler" in text_of(whole)


def test_through_the_gateway_three_calls_in_one_process_answer(tenant: Tenant) -> None:
    behind = tenant.through_gateway()
    for number in range(3):
        found = call(behind, "memory_recall", query=f"boiler {number}")
        assert not found.is_error, text_of(found)


def test_a_public_key_reaches_nothing_of_the_admins_by_any_tool(tenant: Tenant) -> None:
    secret = call(tenant, "memory_remember", text="The vault code word is heliotrope.")
    node_id = secret.structured_content["id"]
    key = tenant.new_key("public", agent_slug="visitor", scopes=["public"])
    listed = with_client(tenant, key, lambda client: client.list_tools())
    for tool in listed.tools:
        properties = tool.input_schema["properties"]
        given: dict[str, Any] = {"query": "heliotrope"} if "query" in properties else {}
        given |= {"id": node_id} if "id" in properties else {}
        given |= {"keyword": "heliotrope"} if "keyword" in properties else {}
        answered = call(tenant, tool.name, holder=key, **given)
        assert "heliotrope" not in text_of(answered), tool.name


def test_another_workspace_reaches_nothing_by_any_tool(tenant: Tenant, laptop: "Laptop") -> None:
    secret = call(tenant, "memory_remember", text="The backup site is Wuppertal.")
    node_id = secret.structured_content["id"]
    other = open_workspace(laptop, "mcp stranger")
    listed = with_client(other, None, lambda client: client.list_tools())
    for tool in listed.tools:
        properties = tool.input_schema["properties"]
        given: dict[str, Any] = {"query": "Wuppertal"} if "query" in properties else {}
        given |= {"id": node_id} if "id" in properties else {}
        answered = call(other, tool.name, **given)
        assert "Wuppertal" not in text_of(answered), tool.name


def test_the_command_serves_the_same_tools_over_standard_input(tenant: Tenant) -> None:
    delegated = environment(tenant) | {"CAIRN_SESSION_ID": "the parent's"}
    command = StdioServerParameters(command=COMMAND, args=["mcp"], env=delegated)

    async def run() -> tuple[Any, Any, Any]:
        async with Client(command) as client:
            listed = await client.list_tools()
            await client.call_tool("memory_remember", {"text": "The child saw the boiler."})
            called = await client.call_tool("memory_recall", {"query": "boiler"})
            refused = await client.call_tool("memory_recall", {"query": ""})
            return listed, called, refused

    listed, called, refused = anyio.run(run)
    (seen,) = tenant.get("/v1/memories", session_id="the parent's")["items"]
    assert seen["text"] == "The child saw the boiler."
    direct = with_client(tenant, None, lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == [tool.name for tool in direct.tools]
    assert listed.tools[0].meta == {"anthropic/alwaysLoad": True}
    assert not called.is_error
    assert refused.is_error


def test_the_command_says_when_there_is_no_such_key(tenant: Tenant) -> None:
    wrong = environment(tenant) | {"CAIRN_API_KEY": "cairn_no.such"}
    done = subprocess.run(
        [COMMAND, "mcp"],
        env=wrong,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


# signing in


@dataclass
class Kept:
    """What a client keeps of its sign-in."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Person:
    """An admin at a browser, who lets in whoever asks."""

    tenant: Tenant
    sent_back: str = ""
    came: int = 0

    async def open(self, url: str) -> None:
        page, _, query = url.partition("?")
        form = dict(parse_qsl(query)) | {"key": self.tenant.key, "slug": "desk", "answer": "yes"}
        async with httpx.AsyncClient(timeout=60) as browser:
            assert "Desk Bot" in (await browser.get(url)).text
            answered = await browser.post(page, data={**form, "scope": "public admin"})
        self.sent_back = answered.headers["location"]
        self.came += 1

    async def come_back(self) -> AuthorizationCodeResult:
        given = dict(parse_qsl(urlsplit(self.sent_back).query))
        return AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given["iss"])


def test_a_client_signs_in_stays_signed_in_and_is_the_agent_it_was_let_in_as(
    tenant: Tenant,
) -> None:
    kept, person = Kept(), Person(tenant)
    metadata = OAuthClientMetadata(
        client_name="Desk Bot", redirect_uris=[AnyUrl("http://127.0.0.1:4444/callback")]
    )

    async def sign_in() -> None:
        url = f"{tenant.base}/mcp"
        signed = OAuthClientProvider(url, metadata, kept, person.open, person.come_back)
        async with (
            httpx2.AsyncClient(auth=signed, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            first = [tool.name for tool in (await client.list_tools()).tools]
            agents = {tool.name for tool in TOOLS if Role.AGENT in tool.roles}
            assert set(first) == agents - {"register_agent"}  # it is one already
            tokens = kept.tokens
            signed.context.token_expiry_time = 1.0  # so that it renews before it asks again
            told = await client.call_tool("memory_remember", {"text": "The desk has a bell."})
            assert not told.is_error
            assert tokens is not None
            assert kept.tokens is not None
            assert kept.tokens.refresh_token != tokens.refresh_token

    anyio.run(sign_in)
    assert person.came == 1
    assert kept.tokens is not None
    who = tenant.call("GET", "/v1/whoami", key=kept.tokens.access_token).json()
    assert (who["agent_slug"], who["scopes"]) == ("desk", ["admin", "public"])


# every tool

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}.*")
ONE_FORMAT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


@dataclass
class Walk:
    """Calls tools as an agent's client does, and holds each answer to its schemas."""

    tenant: Tenant
    walked: set[str] = field(default_factory=set[str])

    def __call__(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        return self.held(name, call(self.tenant, name, **arguments))

    def held(self, name: str, result: types.CallToolResult) -> dict[str, Any]:
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        tool = resolve(name)
        assert tool is not None
        jsonschema.validate(result.structured_content, closed(tool.output_schema()))
        jsonschema.validate(result.structured_content, outline(tool.output_schema()))
        assert text_of(result)
        for moment in strings(result.structured_content):
            assert not TIME.fullmatch(moment) or ONE_FORMAT.fullmatch(moment), (name, moment)
        self.walked.add(tool.name)
        return result.structured_content

    def refuses(self, name: str, /, **arguments: Any) -> None:
        """A tool that has nothing here to act on: no walk of it."""
        result = call(self.tenant, name, **arguments)
        assert result.is_error
        assert text_of(result)


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose objects have the properties that it names and no others."""
    shut = dict(schema)
    if "properties" in shut:
        shut["properties"] = {name: closed(each) for name, each in shut["properties"].items()}
        shut["additionalProperties"] = False
    if "items" in shut:
        shut["items"] = closed(shut["items"])
    return shut


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def test_every_tool_answers_as_its_schema_says(tenant: Tenant) -> None:
    walk = Walk(tenant)
    walk_memories(walk)
    walk_the_graph(walk)
    walk_the_work(walk)
    walk_the_meetings(walk)
    walk_the_way_in(walk)
    walk_deletions(walk)
    assert walk.walked == {tool.name for tool in TOOLS}


def walk_memories(walk: Walk) -> None:
    told = walk("memory_remember", text="The lift is serviced in May.", key="lift", client_id=None)
    found = walk("memory_recall", query="when is the lift serviced?", limit=5)
    assert told["id"] in {each["id"] for each in found["results"]}
    judged = {"search_id": found["search_id"], "node_id": found["results"][0]["id"]}
    assert walk("memory_judge", **judged, useful=True)["useful"] is True
    assert "serviced" in walk("context_get", query="when is the lift serviced?")["context"]
    new = walk("memory_correct", id=told["id"], reason="A slip.", text="It is serviced in June.")
    assert new["replaced"] == [told["id"]]
    assert walk("memory_pin", id=new["id"])["outcome"] == "changed"
    listed = walk("memory_list", limit=200)["items"]
    assert {"pinned": True}.items() <= next(m for m in listed if m["id"] == new["id"]).items()
    assert walk("node_get", id=new["id"])["text"] == "It is serviced in June."
    assert walk("node_trace", id=new["id"])["nodes"]
    walk("memory_exclude", id=new["id"], reason="Nobody asks.")
    assert call(walk.tenant, "node_get", id=new["id"]).is_error


def walk_the_graph(walk: Walk) -> None:
    owner = [{"name": "owner", "value": "platform team"}]
    first, second = (
        walk("node_write", label="Runbook", title=title, text="Turn it off.", properties=owner)
        for title in ("Restart the lift", "Call the lift's maker")
    )
    whole = walk("node_get", id=first["id"])
    assert "platform team" in str(whole)
    ends = {"source_id": first["id"], "target_id": second["id"]}
    walk("node_relate", **ends, relation="DEPENDS_ON")
    assert {**ends, "relation": "DEPENDS_ON"} in walk("node_get", id=first["id"])["edges"]
    page = walk("graph_query", label="Runbook", limit=1)
    rest = walk("graph_query", label="Runbook", limit=1, after=page["after"])
    ids = [node["id"] for node in (*page["nodes"], *rest["nodes"])]
    assert ids == [second["id"], first["id"]]
    walk("node_write", label="Runbook:Reviewed", title="Restart the lift", text="Once more.")
    reviewed = walk("graph_query", label="Reviewed:Runbook", where=["text~once", "!owner"])
    assert [node["labels"] for node in reviewed["nodes"]] == [["Reviewed"]]
    owned = walk("graph_query", label="Runbook", where=["owner=platform team", "title~MAKER"])
    assert [node["id"] for node in owned["nodes"]] == [second["id"]]
    assert (
        "did you mean owner?"
        in walk("graph_query", label="Runbook", where=["ownr=x"])["warnings"][0]
    )
    around = walk("graph_walk", node_ids=[first["id"]])
    assert {first["id"], second["id"]} <= {node["id"] for node in around["nodes"]}


def walk_the_work(walk: Walk) -> None:
    walk("report_write", title="Lift briefing", body="It runs.", keywords=["lift"])
    assert walk("report_read", keyword="lift")["items"][0]["body"] == "It runs."
    assert walk("report_list", keyword="lift")["total"] >= 1
    assert walk("public_host")["hostname"] == "sites.localhost"
    said = {"session_id": "lobby", "role": "user", "text": "The lift is stuck again."}
    walk("conversation_record", channel="webchat", **said)
    recorded = walk("conversation_record", session_id="lobby", role="user", text="Please hurry.")
    walk("conversation_change", id=recorded["conversation_id"], infer=False)
    walk("conversation_search", query="is the lift stuck?")
    turns = ["user: I prefer stairs.", "assistant: I see.", "user: The lift is at the third floor."]
    shorter = walk("context_compact", session_id="lobby-2", messages=turns, target_tokens=200)
    assert "third floor" in shorter["context"]
    kept = walk("memory_remember", text="Ada prefers stairs.", client_id="ada")
    walk.tenant.all_embedded()
    profile = walk("profile_read", client_id="ada")
    assert kept["id"] in {each["id"] for each in profile["items"]}
    begun = walk("work_create", kind="repair", title="Mend the lift")
    going_on = walk("context_session", conversation_id=recorded["conversation_id"])
    assert "Mend the lift" in going_on["context"]
    walk("work_update", id=begun["id"], note="The door was open.")
    assert walk("work_complete", id=begun["id"])["status"] == "completed"
    ticket = walk("ticket_add", title="The lift is stuck", external_id="lift-1")
    assert walk("ticket_add", title="The lift is stuck", external_id="lift-1")["id"] == ticket["id"]
    assert ticket["id"] in {each["id"] for each in walk("ticket_list")["items"]}
    ticket = walk("ticket_add", title="The lift is loud")
    begun = call(walk.tenant, "investigation_start", ticket_id=ticket["id"])
    if begun.is_error:  # the queue was quicker
        assert text_of(begun).startswith("conflict: ")
        walk.walked.add("investigation_start")
    else:
        walk.held("investigation_start", begun)
    run = eventually(lambda: investigation_of(walk, ticket["id"]), seconds=120, what="a run")
    assert walk("investigation_read", investigation_id=run)["id"] == run
    walk("approval_list")
    assert walk("call_list", connector="cairn")["items"]
    digest = {"name": "news", "steps": [{"name": "new", "kind": "digest"}]}
    walk.tenant.post("/v1/workflows", digest)
    assert {"name": "news", "version": 1} in walk("workflow_list")["items"]
    flow = walk("workflow_run", workflow="news", input=[])["id"]
    assert walk("workflow_read", id=flow)["workflow"] == "news"
    whom = {"client_id": "ines"}
    (new,) = walk("intent_create", text="I seek a used lathe for wood.", **whom)["actions"]
    (lathe,) = walk("intent_list", **whom)["items"]
    assert lathe["id"] == new["id"]
    assert walk("intent_search", query="lathe", **whom)["items"] == [lathe]
    (bench,) = walk("intent_create", text="I seek a bench and wood.", **whom)["actions"]
    walk("intent_answer", id=bench["id"], decision="create", **whom)
    walk("intent_update", id=lathe["id"], description="A used lathe for oak wood", **whom)
    assert walk("intent_move", id=lathe["id"], to="pause", **whom)["state"] == "paused"
    assert walk("intent_delete", id=lathe["id"], **whom)["state"] == "archived"
    assert walk("member_profile_generate", text="I am a turner.", **whom)["written"]
    assert walk("member_profile_update", name="Ines", **whom)["written"]
    assert walk("member_profile_read", **whom)["text"] == "Ines. I am a turner."
    looks = {"query": "a shipwright", **whom}
    for tool in ("opportunity_discover", "opportunity_create"):
        assert walk(tool, **looks).get("items", []) == []  # in no network yet
    assert walk("opportunity_list", **whom).get("items", []) == []
    for tool in ("opportunity_send", "opportunity_accept", "opportunity_decline"):
        walk.refuses(tool, id=flow, **whom)  # none of hers
    assert walk("negotiation_list", **whom).get("items", []) == []
    walk.refuses("negotiation_read", id=flow, **whom)
    walk.refuses("negotiation_respond", id=flow, action="accept", message="Yes.", **whom)
    quay = walk("network_create", name="Quay", prompt="Boats.", join_policy="anyone", **whom)
    walk("network_update", id=quay["id"], prompt="Ships.", **whom)
    (listed,) = walk("network_list", joined=True, **whom)["items"]
    assert (listed["id"], listed["prompt"], listed["role"]) == (quay["id"], "Ships.", "owner")
    token = walk("network_invite", id=quay["id"], **whom)["token"]
    assert walk("network_join", token=token, client_id="raul")["members"] == 2
    assert len(walk("network_members", id=quay["id"], **whom)["items"]) == 2
    assert walk("network_leave", id=quay["id"], client_id="raul") == {"id": quay["id"]}
    assert walk("network_delete", id=quay["id"], **whom) == {"id": quay["id"]}
    friend = walk("contact_add", name="Ada Byron", address="ada@mill.example", **whom)
    assert walk("contact_list", **whom)["items"] == [friend]
    assert walk("contact_search", query="byron", **whom)["items"] == [friend]
    calendar = {"kind": "calendar", "address": "https://127.0.0.1/ines.ics", **whom}
    walk.tenant.post("/v1/integrations", calendar)
    assert walk("feed_read", **whom)["by"] == "rules"
    assert walk("feed_health", **whom)["score"] == 0
    (dates,) = walk("integration_list", **whom)["items"]
    walk.refuses("integration_sync", id=dates["id"], **whom)  # not public
    walk.walked.add("integration_sync")  # what it answers is walked below HTTP
    assert walk("public_host")["hostname"] == "sites.localhost"
    settings = walk("settings_read", section="recall")
    assert list(settings["settings"]) == ["recall"]
    assert call(walk.tenant, "settings_read", section="no-such").is_error


def walk_the_meetings(walk: Walk) -> None:
    """One looks, the other has their own agent: they meet, or do not.

    Who looks seeks by a query alone, so that Cairn's own search has nothing to look for.
    """
    hanne = {"client_id": "hanne"}
    slip = walk("network_create", name="Slip", join_policy="anyone", **hanne)["id"]
    offers = {
        "pelle": "I replace rotten planks of old wooden boats in my boatyard.",
        "ravn": "I teach celestial navigation with a sextant to beginners.",
    }
    for client, text in offers.items():
        walk.tenant.post(f"/v1/networks/{slip}/join", {"client_id": client})
        wish = {"text": text, "infer": False, "side": "offering", "networks": [slip]}
        walk.tenant.post("/v1/intents", {**wish, "client_id": client})
    walk.tenant.all_embedded()
    drafts = [draft_of(walk, text, hanne) for text in offers.values()]
    listed = walk("opportunity_list", state="draft", **hanne)["items"]
    assert {each["id"] for each in listed} == set(drafts)
    walk.refuses("opportunity_accept", id=drafts[0], client_id="pelle")  # not sent yet
    assert walk("opportunity_send", id=drafts[0], **hanne)["state"] == "pending"
    yes = walk("opportunity_accept", id=drafts[0], client_id="pelle")
    assert yes["state"] == "accepted"
    whose = {"client_id": "ravn"}
    walk.tenant.post("/v1/agents/mcp/negotiations/pickup", {"takeover": False, **whose})
    begun = walk.tenant.post("/v1/negotiations", {"opportunity_id": drafts[1], **hanne})
    (awaits,) = walk("negotiation_list", **whose)["items"]
    assert (awaits["id"], awaits["speaker"]) == (begun["id"], "candidate")
    assert "source propose" in walk("negotiation_read", id=begun["id"], **whose)["turns"][0]
    walk.refuses("negotiation_read", id=begun["id"], client_id="pelle")
    no = {"action": "reject", "message": "Not this year."}
    done = walk("negotiation_respond", id=begun["id"], **no, **whose)
    assert done == {"state": "ended", "outcome": "rejected"}
    assert walk("opportunity_decline", id=drafts[1], **hanne)["state"] == "rejected"


def draft_of(walk: Walk, offer: str, whom: dict[str, str]) -> str:
    """What is sought is what one of them offers: that one is found and picked."""
    looks = {"query": offer.replace("I ", "Somebody who can ", 1), **whom}
    match = walk("opportunity_discover", **looks)["items"][0]
    picked = walk("opportunity_create", members=[match["member_id"]], **looks)
    assert (picked["new"], picked["items"][0]["state"]) == (1, "draft")
    return picked["items"][0]["id"]


def investigation_of(walk: Walk, ticket_id: str) -> str | None:
    listed = walk("ticket_list")["items"]
    return next(each for each in listed if each["id"] == ticket_id).get("investigation_id")


def walk_the_way_in(walk: Walk) -> None:
    assert walk("register_agent", slug="scout", name="Scout")["joined"] is False
    assert walk("knowledge_bake", agent="scout")["version"] == 1
    assert walk("knowledge_read", agent="scout")["nodes"] == 0
    assert "# Registered agents" in walk("read_docs", name="agents")["text"]
    assert "robots.txt" in walk("read_docs", words="which pages of the web are fetched")["text"]
    page = HTMLResponse("<title>Ferries</title><p>The ferry leaves at ten.</p>")
    with served(page, first_port() + 92) as url:
        read = walk("scrape_url", url=url.replace("/mcp", "/ferries"))
        assert (read["title"], read["text"]) == ("Ferries", "The ferry leaves at ten.")
        inside = call(walk.tenant, "scrape_url", url=url.replace("127.0.0.1", "localhost"))
    assert inside.is_error
    assert "ferry" not in text_of(inside)


def test_an_agent_comes_with_a_new_key_registers_itself_and_then_remembers(tenant: Tenant) -> None:
    own = tenant.new_key("agent", person=False)

    def listed() -> set[str]:
        tools = with_client(tenant, own, lambda client: client.list_tools()).tools
        return {tool.name for tool in tools}

    assert listed() == {"register_agent", "read_docs", "scrape_url"}
    said = {"text": "The quay has a lamp."}
    refused = call(tenant, "memory_remember", holder=own, **said)
    assert refused.is_error
    assert "Call register_agent" in text_of(refused)
    assert not call(tenant, "register_agent", holder=own, slug="keeper", name="Keeper").is_error
    assert {"memory_remember", "memory_recall"} <= listed()
    assert "register_agent" not in listed()
    assert not call(tenant, "memory_remember", holder=own, **said).is_error
    who = tenant.call("GET", "/v1/whoami", key=own).json()
    assert (who["agent"], who["barred"]) == ("keeper", None)


def walk_deletions(walk: Walk) -> None:
    hut = walk("memory_remember", text="The hut is open.", client_id="hut")["id"]
    asked = walk("memory_delete", id=hut)
    assert (asked["state"], asked["text"]) == ("pending", "The hut is open.")
    yes = asked["confirmation"]
    assert walk("memory_delete", id=hut, confirmation=yes)["state"] == "deleted"
    kept = walk("memory_remember", text="The keeper lives upstairs.", client_id="keeper")["id"]
    whom = {"kind": "client", "natural_key": "keeper"}
    asked = walk("memory_forget", **whom)
    assert asked["state"] == "pending"
    assert walk("node_get", id=kept)["text"] == "The keeper lives upstairs."
    other = call(walk.tenant, "memory_forget", **whom, confirmation=yes)
    assert other.is_error
    done = walk("memory_forget", **whom, confirmation=asked["confirmation"])
    assert done["state"] == "forgotten"
    assert call(walk.tenant, "node_get", id=kept).is_error


# the public suite


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite, installed from the package registry by the project's own node."""
    folder = tmp_path_factory.mktemp("conformance")
    (folder / "package.json").write_bytes((SUITE / "package.json").read_bytes())
    npm = node_folder().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node_folder() / "node"), str(npm), "install", "--no-audit", "--no-fund"]
    subprocess.run([*command, "--no-package-lock"], cwd=folder, check=True, capture_output=True)
    package = folder / "node_modules" / "@modelcontextprotocol" / "conformance"
    return package / "dist" / "index.js"


def conforms(suite: Path, url: str, *arguments: str) -> None:
    """Run the suite and fail with what it printed unless it is satisfied."""
    command = [str(node_folder() / "node"), str(suite), "server", "--url", url, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@contextmanager
def served(app: Any, port: int) -> Iterator[str]:
    """Serve an ASGI app on a port of this machine."""
    config = uvicorn.Config(app, port=port, log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started, seconds=20, what="the server")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def with_key(tenant: Tenant) -> Any:
    """An ASGI app that forwards to the stack with a key: the suite itself sends none."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message.get("more_body", False)
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        headers.append((b"authorization", f"Bearer {tenant.key}".encode()))
        async with httpx.AsyncClient(timeout=60) as http:
            answer = await http.request(
                scope["method"], f"{tenant.base}{scope['path']}", content=body, headers=headers
            )
        kept = [(name.lower(), value) for name, value in answer.headers.raw]
        kept = [(name, value) for name, value in kept if name != b"transfer-encoding"]
        start = {"type": "http.response.start", "status": answer.status_code, "headers": kept}
        await send(start)
        await send({"type": "http.response.body", "body": answer.content})

    return app


def test_the_public_suite_finds_nothing_but_what_is_not_offered(
    tenant: Tenant, suite: Path
) -> None:
    with served(with_key(tenant), first_port() + 90) as url:
        conforms(suite, url, "--expected-failures", str(SUITE / "expected-failures.yml"))


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")  # and still in the suite
def test_with_the_suites_own_tools_and_resources_only_what_needs_a_session_is_not_offered(
    suite: Path,
) -> None:
    log, options = Lines([]), ApiOptions(mcp_hosts=("127.0.0.1:*",))
    app = create_app(World().services(), options, log=log)
    app.state.mcp = ExampleEndpoint(app.state.services, options, log)

    async def signed(scope: Any, receive: Any, send: Any) -> None:
        key = (b"authorization", f"Bearer {ADMIN_KEY}".encode())
        await app({**scope, "headers": [*scope["headers"], key]}, receive, send)

    with served(signed, first_port() + 91) as url:
        conforms(suite, url, "--expected-failures", str(SUITE / "sessions.yml"))
