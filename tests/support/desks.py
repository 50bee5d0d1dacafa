"""Help desks asked over JSON, each with the server that answers for it, under one face."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from tests.support import (
    autotask_replay,
    connectwise_replay,
    freshdesk_replay,
    halopsa_replay,
    intercom_replay,
    jira_replay,
    linear_replay,
    zendesk_replay,
)

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.tickets.adapter import Delivered
from cairn.tickets.html import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime

    from tests.support.file_replay import Kept
    from tests.support.replaying import Asked, Replay

    from cairn.tickets.adapter import TicketAdapter

MARA, LENA, WEBHOOK_SECRET = "mara@northwind.example", "lena@harbourlane.example", "hush"


@dataclass(kw_only=True)
class Desk:
    """A help desk that a test writes at. `replay` has a `now`, which stands until it is moved."""

    replay: Any
    kind: ClassVar[str]
    closed: ClassVar[str]
    own_status: ClassVar[str]
    numbered: ClassVar[str]
    absent: ClassVar[str] = "99999999"

    def move(self, **by: float) -> None:
        self.replay.now += timedelta(**by)

    @property
    def config(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def secrets(self) -> dict[str, str]:
        raise NotImplementedError

    def open(self, **config: Any) -> TicketAdapter:
        opened = OpenHelpDesk(allow_private=True, clock=lambda: self.replay.now)
        return opened(self.kind, self.config | config, self.secrets)

    def ask(self, title: str, text: str) -> str:
        """Let the customer ask; return the ticket's id."""
        raise NotImplementedError

    def write(self, ticket: str, text: str) -> None:
        """Let the customer write again."""
        raise NotImplementedError

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        """Let the customer write again, with files; with "", attach them to the first text."""
        raise NotImplementedError

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        """Let somebody of the desk write."""
        raise NotImplementedError

    def touch(self, ticket: str) -> None:
        """Change a ticket."""
        raise NotImplementedError

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        """What Cairn wrote, and whether it is private."""
        raise NotImplementedError

    def status(self, ticket: str) -> str:
        raise NotImplementedError

    def minutes(self, ticket: str) -> list[float]:
        raise NotImplementedError

    def writes(self, asked: Asked) -> bool:
        """Whether a request is one that writes."""
        return asked.method == "POST"

    def lists(self, asked: Asked) -> bool:
        """Whether a request is one that lists tickets."""
        raise NotImplementedError


@dataclass(kw_only=True)
class Jira(Desk):
    replay: jira_replay.JiraReplay
    kind = "jira"
    closed, own_status, numbered = "Resolved", "Waiting for customer", "20"

    @property
    def config(self) -> dict[str, Any]:
        return {"site_url": self.replay.url, "email": jira_replay.EMAIL, "project": "SUP"}

    @property
    def secrets(self) -> dict[str, str]:
        return {"api_token": jira_replay.API_TOKEN, "webhook_secret": WEBHOOK_SECRET}

    def ask(self, title: str, text: str) -> str:
        return self.replay.add(title, text, jira_replay.account("mara", MARA))["id"]

    def write(self, ticket: str, text: str) -> None:
        self.replay.comment(ticket, text, jira_replay.account("mara", MARA))

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        mara = jira_replay.account("mara", MARA)
        for each in files:
            self.replay.attach(ticket, each, mara, **more)
        if text:
            self.replay.comment(ticket, text, mara)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        lena = jira_replay.account("lena", LENA, kind="atlassian")
        self.replay.comment(ticket, text, lena)
        for each in files:
            self.replay.attach(ticket, each, lena)

    def touch(self, ticket: str) -> None:
        self.replay.touch(ticket)

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        return [
            (item["body"], not item["jsdPublic"])
            for item in self.replay.comments.get(ticket, [])
            if item["author"]["accountId"] == "qm:agent-1"
        ]

    def status(self, ticket: str) -> str:
        return self.replay.issues[ticket]["fields"]["status"]["name"]

    def minutes(self, ticket: str) -> list[float]:
        return [item["timeSpentSeconds"] / 60 for item in self.replay.worklogs.get(ticket, [])]

    def lists(self, asked: Asked) -> bool:
        return asked.path.endswith("/search/jql")


@dataclass(kw_only=True)
class Linear(Desk):
    replay: linear_replay.LinearReplay
    kind = "linear"
    closed, own_status = "Done", "Canceled"
    numbered = linear_replay.STATES["Canceled"]
    absent = "00000000-0000-4000-8000-000000000000"

    @property
    def config(self) -> dict[str, Any]:
        return {
            "api_url": f"{self.replay.url}/graphql",
            "uploads_url": self.replay.url,
            "team": linear_replay.TEAM,
        }

    @property
    def secrets(self) -> dict[str, str]:
        return {"api_key": linear_replay.API_KEY, "webhook_secret": WEBHOOK_SECRET}

    def ask(self, title: str, text: str) -> str:
        return self.replay.add(title, text, {"id": "mara", "email": MARA})["id"]

    def write(self, ticket: str, text: str) -> None:
        self.replay.comment(ticket, text, user={"id": "mara", "email": MARA})

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        links = "\n\n".join(map(self.replay.link, files))
        if text:
            self.write(ticket, f"{text}\n\n{links}")
        else:
            self.replay.issues[ticket]["description"] += f"\n\n{links}"
            self.touch(ticket)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        body = "\n\n".join([text, *map(self.replay.link, files)])
        self.replay.comment(ticket, body, user={"id": "lena", "email": LENA})

    def touch(self, ticket: str) -> None:
        self.replay.issues[ticket]["updatedAt"] = self.replay.stamp()

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        comments = self.replay.issues[ticket]["comments"]
        return [(item["body"], False) for item in comments if item["user"] == {"id": "cairn"}]

    def status(self, ticket: str) -> str:
        return self.replay.issues[ticket]["state"]["name"]

    def writes(self, asked: Asked) -> bool:
        return "mutation" in asked.body["query"]

    def lists(self, asked: Asked) -> bool:
        return "query Changed" in asked.body["query"]


@dataclass(kw_only=True)
class Halo(Desk):
    replay: halopsa_replay.HaloReplay
    kind = "halopsa"
    closed, own_status, numbered = "Resolved", "With User", "4"

    @property
    def config(self) -> dict[str, Any]:
        return {"site_url": self.replay.url, "client_id": halopsa_replay.CLIENT_ID}

    @property
    def secrets(self) -> dict[str, str]:
        return {"client_secret": halopsa_replay.CLIENT_SECRET}

    def ask(self, title: str, text: str) -> str:
        return str(self.replay.add(title, text)["id"])

    def write(self, ticket: str, text: str) -> None:
        self.replay.act(int(ticket), text, who="Mara Voss")

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        number, sized = int(ticket), {"filesize": more["size"]} if more else {}
        action = self.replay.actions[number][0]
        if text:
            action = self.replay.act(number, text, who="Mara Voss")
        for each in files:
            self.replay.attach(number, action, each, **sized)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        action = self.replay.act(int(ticket), text, who="Lena", who_agentid=3)
        for each in files:
            self.replay.attach(int(ticket), action, each, user_id=399)

    def touch(self, ticket: str) -> None:
        self.replay.tickets[int(ticket)]["last_update"] = self.replay.stamp()

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        return [
            (item["note"], item["hiddenfromuser"])
            for item in self.replay.actions[int(ticket)]
            if item["who"] == "Cairn"
        ]

    def status(self, ticket: str) -> str:
        return halopsa_replay.STATUSES[self.replay.tickets[int(ticket)]["status_id"]]

    def minutes(self, ticket: str) -> list[float]:
        actions = self.replay.actions[int(ticket)]
        return [item["timetaken"] * 60 for item in actions if "timetaken" in item]

    def writes(self, asked: Asked) -> bool:
        return asked.method == "POST" and not asked.path.endswith("/token")

    def lists(self, asked: Asked) -> bool:
        return asked.path == "/api/Tickets"


@dataclass(kw_only=True)
class Autotask(Desk):
    replay: autotask_replay.AutotaskReplay
    kind = "autotask"
    closed, own_status, numbered = "Complete", "Waiting Customer", "7"

    @property
    def config(self) -> dict[str, Any]:
        return {
            "username": autotask_replay.USERNAME,
            "zones_url": f"{self.replay.url}/ATServicesRest",
            "resource_id": "29",
            "role_id": "3",
        }

    @property
    def secrets(self) -> dict[str, str]:
        return {"integration_code": autotask_replay.CODE, "secret": autotask_replay.SECRET}

    def contact(self) -> dict[str, Any]:
        contacts = self.replay.entities.get("Contacts")
        if contacts:
            return next(iter(contacts.values()))
        company = self.replay.put("Companies", companyName="Northwind")
        return self.replay.put("Contacts", emailAddress=MARA, companyID=company["id"])

    def ask(self, title: str, text: str) -> str:
        return str(self.replay.add(title, text, self.contact())["id"])

    def write(self, ticket: str, text: str) -> None:
        self.replay.note(int(ticket), text, createdByContactID=self.contact()["id"])

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        sized = {"fileSize": float(more["size"])} if more else {}
        for each in files:
            by = {"attachedByContactID": self.contact()["id"], **sized}
            self.replay.attach(int(ticket), each, **by)
        if text:
            self.write(ticket, text)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        self.replay.note(int(ticket), text, creatorResourceID=12)
        for each in files:
            self.replay.attach(int(ticket), each, attachedByResourceID=12)

    def touch(self, ticket: str) -> None:
        self.replay.entities["Tickets"][int(ticket)]["lastActivityDate"] = self.replay.stamp()

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        return [
            (note["description"], note["publish"] == 2)
            for note in self.replay.entities.get("TicketNotes", {}).values()
            if note["ticketID"] == int(ticket) and note["title"] == "Cairn"
        ]

    def status(self, ticket: str) -> str:
        return autotask_replay.STATUSES[self.replay.entities["Tickets"][int(ticket)]["status"]]

    def minutes(self, ticket: str) -> list[float]:
        return [item["hoursWorked"] * 60 for item in self.replay.entities["TimeEntries"].values()]

    def writes(self, asked: Asked) -> bool:
        return asked.path.endswith(("/Notes", "/TimeEntries"))

    def lists(self, asked: Asked) -> bool:
        return "/Tickets/query" in asked.path


@dataclass(kw_only=True)
class ConnectWise(Desk):
    replay: connectwise_replay.ConnectWiseReplay
    kind = "connectwise"
    closed, own_status, numbered = "Closed", "Waiting on Customer", "3"

    @property
    def config(self) -> dict[str, Any]:
        return {
            "api_url": self.replay.url + connectwise_replay.BASE,
            "company": connectwise_replay.COMPANY,
            "public_key": connectwise_replay.PUBLIC,
            "client_id": connectwise_replay.CLIENT_ID,
        }

    @property
    def secrets(self) -> dict[str, str]:
        secret = connectwise_replay.SIGNING_KEY
        return {"private_key": connectwise_replay.PRIVATE, "webhook_secret": secret}

    def ask(self, title: str, text: str) -> str:
        return str(self.replay.add(title, text)["id"])

    def write(self, ticket: str, text: str) -> None:
        self.replay.note(int(ticket), text, contact={"id": 77, "name": "Mara Voss"})

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        for each in files:
            self.replay.attach(int(ticket), each, publicFlag=True, **more)
        if text:
            self.write(ticket, text)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        self.replay.note(int(ticket), text, member={"identifier": "lena"})
        for each in files:
            self.replay.attach(int(ticket), each, owner="lena")

    def touch(self, ticket: str) -> None:
        self.replay.tickets[int(ticket)]["_info"]["lastUpdated"] = self.replay.stamp()

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        return [
            (note["text"], note["internalAnalysisFlag"])
            for note in self.replay.notes[int(ticket)]
            if note.get("member") == {"identifier": "api"}
        ]

    def status(self, ticket: str) -> str:
        return self.replay.tickets[int(ticket)]["status"]["name"]

    def minutes(self, ticket: str) -> list[float]:
        return [item["actualHours"] * 60 for item in self.replay.times]

    def lists(self, asked: Asked) -> bool:
        return asked.path.endswith("/service/tickets")


@dataclass(kw_only=True)
class Zendesk(Desk):
    replay: zendesk_replay.ZendeskReplay
    kind = "zendesk"
    closed, own_status, numbered = "Solved", "Pending", "3"

    @property
    def config(self) -> dict[str, Any]:
        return {"site_url": self.replay.url, "email": zendesk_replay.EMAIL}

    @property
    def secrets(self) -> dict[str, str]:
        return {"api_token": zendesk_replay.API_TOKEN, "webhook_secret": WEBHOOK_SECRET}

    def ask(self, title: str, text: str) -> str:
        return str(self.replay.add(title, text)["id"])

    def write(self, ticket: str, text: str) -> None:
        self.replay.comment(ticket, text, 41)

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        first = self.replay.comments[ticket][0]
        comment = self.replay.comment(ticket, text, 41) if text else first
        for each in files:
            self.replay.attach(comment, each, **more)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        comment = self.replay.comment(ticket, text, 8)
        for each in files:
            self.replay.attach(comment, each)

    def touch(self, ticket: str) -> None:
        self.replay.touch(ticket)

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        comments = self.replay.comments[ticket]
        return [(each["body"], not each["public"]) for each in comments if each["author_id"] == 7]

    def status(self, ticket: str) -> str:
        return zendesk_replay.STATUSES[self.replay.tickets[ticket]["custom_status_id"]][0]

    def writes(self, asked: Asked) -> bool:
        return asked.method == "PUT"

    def lists(self, asked: Asked) -> bool:
        return "/incremental/" in asked.path


@dataclass(kw_only=True)
class Freshdesk(Desk):
    replay: freshdesk_replay.FreshdeskReplay
    kind = "freshdesk"
    closed, own_status, numbered = "Resolved", "Pending", "3"

    @property
    def config(self) -> dict[str, Any]:
        return {"site_url": self.replay.url}

    @property
    def secrets(self) -> dict[str, str]:
        return {"api_key": freshdesk_replay.API_KEY, "webhook_secret": WEBHOOK_SECRET}

    def ask(self, title: str, text: str) -> str:
        return str(self.replay.add(title, text)["id"])

    def write(self, ticket: str, text: str) -> None:
        html = text.replace("\n", "<br>")
        self.replay.say(ticket, html, 41, incoming=True, private=False)

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        record = self.replay.tickets[ticket]
        if text:
            record = self.replay.say(ticket, text, 41, incoming=True, private=False)
        for each in files:
            self.replay.attach(record, each, **more)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        row = self.replay.say(ticket, text, 8, incoming=False, private=False)
        for each in files:
            self.replay.attach(row, each)

    def touch(self, ticket: str) -> None:
        self.replay.touch(ticket)

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        rows = self.replay.conversations.get(ticket, [])
        return [(each["body_text"], each["private"]) for each in rows if each["user_id"] == 7]

    def status(self, ticket: str) -> str:
        return freshdesk_replay.STATUSES[str(self.replay.tickets[ticket]["status"])][0]

    def minutes(self, ticket: str) -> list[float]:
        times = [each["time_spent"].split(":") for each in self.replay.times[ticket]]
        return [int(hours) * 60 + int(minutes) for hours, minutes in times]

    def lists(self, asked: Asked) -> bool:
        return asked.path == "/api/v2/tickets"


@dataclass(kw_only=True)
class Intercom(Desk):
    replay: intercom_replay.IntercomReplay
    kind = "intercom"
    closed, own_status, numbered = "closed", "open", "open"

    @property
    def config(self) -> dict[str, Any]:
        return {"api_url": self.replay.url, "admin_id": intercom_replay.ADMIN}

    @property
    def secrets(self) -> dict[str, str]:
        return {"access_token": intercom_replay.ACCESS_TOKEN, "client_secret": WEBHOOK_SECRET}

    def ask(self, title: str, text: str) -> str:
        return str(self.replay.add(title, text)["id"])

    def write(self, ticket: str, text: str) -> None:
        self.replay.say(ticket, text.replace("\n", "<br>"), intercom_replay.MARA)

    def write_with(self, ticket: str, text: str, *files: Kept, **more: Any) -> None:
        record = self.replay.conversations[ticket]["source"]
        if text:
            record = self.replay.say(ticket, text, intercom_replay.MARA)
        sized = {"filesize": more["size"]} if more else {}
        for each in files:
            self.replay.attach(record, each, **sized)

    def colleague(self, ticket: str, text: str, *files: Kept) -> None:
        part = self.replay.say(ticket, text, {"type": "admin", "id": "8", "email": LENA})
        for each in files:
            self.replay.attach(part, each)

    def touch(self, ticket: str) -> None:
        self.replay.touch(ticket)

    def answers(self, ticket: str) -> list[tuple[str, bool]]:
        parts = self.replay.parts[ticket]
        ours = [each for each in parts if each["author"]["id"] == intercom_replay.ADMIN]
        return [(plain_text(each["body"]), each["part_type"] == "note") for each in ours]

    def status(self, ticket: str) -> str:
        return self.replay.conversations[ticket]["state"]

    def writes(self, asked: Asked) -> bool:
        return asked.path.endswith("/reply")

    def lists(self, asked: Asked) -> bool:
        return asked.path.endswith("/search")


_SERVERS: dict[str, tuple[type[Desk], Callable[[], AbstractContextManager[Replay]]]] = {
    "jira": (Jira, jira_replay.jira_replay),
    "linear": (Linear, linear_replay.linear_replay),
    "halopsa": (Halo, halopsa_replay.halopsa_replay),
    "autotask": (Autotask, autotask_replay.autotask_replay),
    "connectwise": (ConnectWise, connectwise_replay.connectwise_replay),
    "zendesk": (Zendesk, zendesk_replay.zendesk_replay),
    "freshdesk": (Freshdesk, freshdesk_replay.freshdesk_replay),
    "intercom": (Intercom, intercom_replay.intercom_replay),
}
KINDS = tuple(_SERVERS)


@contextmanager
def desk_of(kind: str) -> Iterator[Desk]:
    """Serve a help desk of a kind until the block ends."""
    face, server = _SERVERS[kind]
    with server() as replay:
        yield face(replay=replay)


def zendesk_signed(document: Any, at: datetime, secret: str = WEBHOOK_SECRET) -> Delivered:
    """A delivery whose body is signed with its time."""
    body, sent_at = json.dumps(document).encode(), f"{at:%Y-%m-%dT%H:%M:%SZ}"
    digest = hmac.new(secret.encode(), sent_at.encode() + body, hashlib.sha256).digest()
    headers = {
        "x-zendesk-webhook-signature": base64.b64encode(digest).decode(),
        "x-zendesk-webhook-signature-timestamp": sent_at,
    }
    return Delivered(body=body, headers=headers)


def intercom_signed(topic: str, conversation: str, secret: str = WEBHOOK_SECRET) -> Delivered:
    """A notification about a conversation."""
    document = {"topic": topic, "id": "notif_1", "data": {"item": {"id": conversation}}}
    body = json.dumps(document).encode()
    digest = hmac.new(secret.encode(), body, hashlib.sha1).hexdigest()
    return Delivered(body=body, headers={"x-hub-signature": f"sha1={digest}"})


def signed(document: Any, header: str, prefix: str = "", **headers: str) -> Delivered:
    """A delivery whose body is signed as Jira and Linear sign theirs."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    signature = hmac.new(WEBHOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
    return Delivered(body=body, headers={header: prefix + signature, **headers})
