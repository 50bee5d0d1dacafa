"""A bot in Microsoft Teams as it is wired, over PostgreSQL, driven as Teams drives it."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import mangum
import pytest
from tests.integration.chat import test_channels_front, test_chat_front, test_widget_front
from tests.integration.chat.test_channels_front import HAND_OFF
from tests.integration.chat.test_widget_front import GUIDE, ingest
from tests.support.deciding import TOOL, question
from tests.support.embedding import HashingEmbedder
from tests.support.front import Front
from tests.support.replaying import Asked, Fault
from tests.support.teams_replay import (
    APP_ID,
    CHANNEL,
    GROUP,
    GUEST,
    MEGAN,
    OLE,
    OPERATORS,
    PERSONAL,
    SECRET,
    TENANT,
    Member,
    TeamsReplay,
    teams_replay,
)
from tests.unit.cli.fakes import Shell

from cairn.adapters.http.messengers.opening import MESSENGERS
from cairn.adapters.http.opening import forms
from cairn.channels.operating import TIED
from cairn.kernel.access import PersonRole, Scope
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database
    from tests.support.world import World

Record = dict[str, Any]
GUIDE_OF_TEAMS = Path(__file__).parents[3] / "docs" / "use" / "teams.md"
world = test_widget_front.world


def not_wrapped(app: Any, **_: Any) -> Any:
    return app


@pytest.fixture
def teams() -> Iterator[TeamsReplay]:
    with teams_replay() as replay:
        yield replay


class Office(test_channels_front.Office):
    """A workspace with a bot in Teams; its queue is worked when a test says so."""

    teams: TeamsReplay

    def add(self, **settings: Any) -> Office:
        body = {
            "name": "teams",
            "kind": "teams",
            "config": {
                "app_id": APP_ID,
                "tenant_id": TENANT,
                "operators": OPERATORS,
                "microsoft_url": self.teams.url,
            },
            "secrets": {"client_secret": SECRET},
            "settings": settings,
        }
        self.channel = self.front.call("POST", "/v1/channels", json=body)
        return self

    def deliver(self, activity: Any, **changes: Any) -> httpx.Response:
        """Send an activity as the Bot Connector does, with no key of ours."""
        body, headers = self.teams.signed(activity, **changes)
        return self.front.answer("POST", self.channel["events_path"], content=body, headers=headers)

    def says(self, words: str, **more: Any) -> Record:
        """Let somebody write, and the bot work at it; return the activity."""
        activity = self.teams.say(words, **more)
        answer = self.deliver(activity)
        assert answer.status_code == 200, answer.text
        self.work()
        return activity

    def presses(self, title: str, by: Member = OLE, **more: Any) -> httpx.Response:
        answer = self.deliver(self.teams.press(title, by=by, **more))
        self.work()
        return answer

    def tie(self, member: Member, name: str, role: PersonRole = PersonRole.OPERATOR) -> str:
        """Let somebody of the tenant be a person here, as the guide says."""
        people, system = self.front.app.state.services.people, self.world.admin
        link = people.add(system, login=f"{name}-{new_id()}", name=name.title(), role=role)
        path = f"/v1/channels/{self.channel['id']}/codes"
        code = self.front.call("POST", path, json={"person_id": str(link.person.id)})["code"]
        chat = f"a:{member.object_id}"
        self.teams.said[chat] = []
        self.says(f"tie {code}", by=member, conversation=chat)
        assert "You are" in self.teams.texts(chat)[-1]
        return chat


@pytest.fixture
def office(
    database: Database,
    world: World,
    teams: TeamsReplay,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Office:
    for name, value in test_chat_front.environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAIRN_WEBHOOKS", "private")
    cloud = test_chat_front.Cloud()
    test_chat_front.stand_in_for_aws(monkeypatch, cloud)
    monkeypatch.setattr(mangum, "Mangum", not_wrapped)  # it leaves an event loop open
    nobody: Any = None
    front = Front(world.key, embedder=HashingEmbedder())
    office = Office(front, nobody, cloud, world, database)
    office.teams = teams
    return office


def test_a_chat_a_group_and_a_reply_chain_are_answered_from_public_documents(
    office: Office, tmp_path: Path
) -> None:
    ingest(office.world, tmp_path, GUIDE, "kb://gates.md", Scope.PUBLIC)
    ingest(office.world, tmp_path, "# Gates\n\nThe code is 4711.\n", "kb://code.md", Scope.ADMIN)
    office.add()
    shown = json.dumps(office.front.call("GET", "/v1/channels"))
    assert SECRET not in shown
    path = f"/v1/channels/{office.channel['id']}"
    assert office.front.call("POST", f"{path}/check") == {"app": APP_ID}
    for conversation in (PERSONAL, GROUP, CHANNEL):
        activity = office.says("When does the harbour gate open?", conversation=conversation)
        (answer,) = office.teams.texts(activity["conversation"]["id"])
        assert "six in the morning" in answer and "[doc:Gates" in answer
    root = activity["conversation"]["id"].partition("=")[2]
    office.says("And the gate code?", conversation=CHANNEL, thread=root, entities=[])
    assert len(office.teams.texts(f"{CHANNEL};messageid={root}")) == 2
    office.says("just us", conversation=CHANNEL, entities=[], text="just us")  # to nobody
    assert not any("4711" in each for each in office.teams.texts(""))
    assert len(office.teams.texts(CHANNEL)) == 2
    talks = office.front.call("GET", "/v1/conversations?channel=teams")["items"]
    assert {each["client_id"] for each in talks} == {f"{MEGAN.object_id}@{TENANT}.teams.invalid"}


class Direct(httpx.BaseTransport):
    """What the command line reaches the API by."""

    def __init__(self, front: Front) -> None:
        self.front = front

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"content-type": request.headers.get("content-type", "")}
        answer = self.front.answer(
            request.method, request.url.path, content=request.read(), headers=headers
        )
        return httpx.Response(
            answer.status_code, headers={"content-type": "application/json"}, content=answer.content
        )


def test_the_commands_of_the_guide_set_up_a_bot(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = {"app_id": APP_ID, "tenant_id": TENANT, "operators": OPERATORS}
    config["microsoft_url"] = office.teams.url
    Path("teams.json").write_text(json.dumps(config), encoding="utf-8")
    Path("secret.txt").write_text(f"{SECRET}\n", encoding="utf-8")
    login = f"ada-{new_id()}"
    office.front.app.state.services.people.add(
        office.world.admin, login=login, name="Ada", role=PersonRole.OPERATOR
    )
    shell = Shell(transport=Direct(office.front), settings={"api_key": office.front.key})
    block = GUIDE_OF_TEAMS.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0]
    said: list[str] = []
    for line in block.replace("APP_ID", APP_ID).replace(" ada ", f" {login} ").splitlines():
        command, *arguments = shlex.split(line, comments=True)
        assert command == "cairn"
        done = shell.run(*arguments)
        assert done.exit_code == 0, (line, done.output)
        said.append(done.stdout)
    assert zipfile.is_zipfile("cairn-teams.zip")
    assert APP_ID in said[2]
    (office.channel,) = office.front.call("GET", "/v1/channels")["items"]
    assert office.channel["events_path"] in said[1]
    chat = f"a:{OLE.object_id}"
    office.teams.said[chat] = []
    office.says(said[3].partition(":")[2].strip(), by=OLE, conversation=chat)
    assert office.teams.texts(chat) == [TIED.format(name="Ada")]
    assert shell.run("channels", "manifest", "slack", "--app-id", "x", "--website", "y").exit_code


def test_the_guide_names_every_setting_of_a_bot() -> None:
    listed = re.findall(
        r"^\| `([a-z_]+)` \|", GUIDE_OF_TEAMS.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    form = forms(MESSENGERS)["teams"]
    assert set(listed) == {each.name for each in form.config}


def test_a_storm_of_retries_is_one_message(office: Office) -> None:
    office.add()
    activity = office.teams.say("When does it open?")

    def deliver(_: int) -> int:
        return office.deliver(activity).status_code

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(deliver, range(64))) == {200}
    assert len(office.cloud.records("channel")) == 1
    office.cloud.messages *= 3  # a queue delivers at least once
    office.work()
    assert office.deliver(activity).status_code == 200
    office.work()
    assert len(office.teams.texts()) == 1


def test_what_the_bot_connector_did_not_send_is_refused_and_nothing_is_kept(
    office: Office,
) -> None:
    office.add()
    hello = office.teams.say("hello")
    path = office.channel["events_path"]
    refused = [
        (office.front.answer("POST", path, json=hello), 401),  # a key is no proof
        (office.deliver(hello, algorithm="none"), 401),
        (office.deliver(hello, aud="another"), 401),
        (office.deliver(hello, exp=1_700_000_000), 401),
        (office.deliver(hello, headers={"kid": "made up"}), 401),
        (office.deliver(hello, serviceurl="https://evil.example/"), 403),
        (office.deliver({**hello, "serviceUrl": "https://evil.example/"},
                        serviceurl="https://evil.example/"), 403),
        (office.deliver({**hello, "channelData": {"tenant": {"id": "other"}}}), 403),
        (office.deliver({**hello, "channelId": "webchat"}), 403),
        (office.deliver(b"{"), 422),
        (office.deliver(b"[" * 50_000), 422),
        (office.deliver({**hello, "id": ""}), 422),
        (office.deliver(b'{"text": "' + b"x" * 5_000_000 + b'"}'), 413),
    ]  # fmt: skip
    assert [answer.status_code for answer, _ in refused] == [status for _, status in refused]
    assert all(answer.json()["detail"] for answer, _ in refused)
    assert office.cloud.records("channel") == []
    asked = {each.path for each in office.teams.asked}
    assert asked == {"/v1/.well-known/openidconfiguration", "/v1/.well-known/keys"}
    office.says("x", text="a\x00b \ud800")
    assert len(office.teams.texts()) == 1


def test_what_teams_does_not_take_is_tried_again(office: Office) -> None:
    office.add()

    def posts(asked: Asked) -> bool:
        return asked.path.endswith("/activities")

    office.teams.faults.append(Fault(status=429, headers={"retry-after": "30"}, where=posts))
    assert office.deliver(office.teams.say("one")).status_code == 200
    office.work(fails=True)
    assert office.teams.texts() == []
    office.work()
    assert len(office.teams.texts()) == 1
    office.teams.expire_tokens()
    office.says("two")  # a new token, once
    assert len(office.teams.texts()) == 2
    office.teams.expire_tokens()
    office.teams.secret = "renewed"
    office.deliver(office.teams.say("three"))
    office.work(fails=True)
    assert office.front.call("GET", "/v1/channels")["items"][0]["error"] == "needs-auth"


def test_a_guest_is_told_once_that_they_may_not(office: Office) -> None:
    office.add()
    office.says("let me in", by=GUEST)
    office.says("please", by=GUEST)
    (words,) = office.teams.texts()
    assert "members of this organisation" in words


def test_an_operator_decides_by_a_card_and_a_stranger_does_not(office: Office) -> None:
    office.add()
    id_ = question(office.agents())
    office.work()
    (card,) = office.teams.texts(OPERATORS)
    for part in (TOOL, "Undo", "Evidence", "[Approve]", "[Reject]"):
        assert part in card, part
    taken = office.presses("Approve", by=MEGAN)
    assert taken.json()["type"] == "application/vnd.microsoft.activity.message"
    assert "tie CODE" in office.teams.texts(OPERATORS)[-1]
    assert office.approval(id_)["state"] == "pending"
    office.tie(OLE, "ole")
    changed = office.teams.press("Approve")
    changed["value"]["action"]["data"]["value"] = "0" * 64
    office.deliver(changed)
    office.work()
    assert office.approval(id_)["state"] == "pending"
    press = office.teams.press("Approve")
    for _ in range(3):  # Teams sends it again
        assert office.deliver(press).status_code == 200
    office.work()
    assert office.approval(id_)["state"] in ("granted", "used")
    card = office.teams.texts(OPERATORS)[0]
    assert "Granted by Ole" in card and "[" not in card


def test_an_old_client_and_a_second_operator_press_the_same_card(office: Office) -> None:
    office.add()
    office.tie(OLE, "ole")
    office.tie(MEGAN, "megan")
    id_ = question(office.agents())
    office.work()
    presses = [office.teams.press("Reject", by=who, old=True) for who in (OLE, MEGAN)]
    for press in presses:
        assert office.deliver(press).json() == {}
    office.work()
    assert office.approval(id_)["state"] == "rejected"
    assert any("decided before" in each for each in office.teams.texts(OPERATORS))


def test_a_chat_goes_to_an_operator_in_a_reply_chain_and_back(office: Office) -> None:
    office.add(hand_off=HAND_OFF)
    office.tie(OLE, "ole")
    office.says("My order 4711 is lost.")
    office.says("Can I talk to a person, please?")
    (card,) = office.teams.texts(OPERATORS)
    assert "4711" in card and "[Accept]" in card
    root = next(each for each in office.teams.said if each.startswith(OPERATORS))
    thread = root.partition("=")[2]
    office.says("Hello?")
    assert office.teams.texts(root)[-1] == "Customer: Hello?"
    office.presses("Accept")
    assert office.teams.texts()[-1] == "Ole answers now."
    office.says("Good morning, this is Ole.", by=OLE, conversation=OPERATORS, thread=thread)
    assert office.teams.texts()[-1] == "Ole: Good morning, this is Ole."
    office.says("Where is it?")
    assert office.teams.texts(root)[-1] == "Customer: Where is it?"
    (chat,) = office.chats("active")
    assert (chat["channel"], chat["operator"]) == ("teams", "Ole")
    office.presses("Close")
    assert office.front.call("GET", f"/v1/chats/{chat['id']}")["state"] == "closed"
    spoken = office.front.call("GET", f"/v1/chats/{chat['id']}")["transcript"]
    texts = [each["text"] for each in spoken if each["text"]]
    for text in ("My order 4711 is lost.", "Hello?", "Good morning, this is Ole.", "Where is it?"):
        assert texts.count(text) == 1, texts
