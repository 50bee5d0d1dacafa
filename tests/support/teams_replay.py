"""Microsoft Teams as a bot sees it, over chats and channels that it keeps.

It is Microsoft's sign-in, the Bot Connector with its published keys, and the people who write and
press buttons: their activities are signed as the connector signs them. Shapes and codes are those
of Microsoft's documentation of the Bot Connector's REST API and of bots in Teams.
"""

from __future__ import annotations

import itertools
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

Record = dict[str, Any]

APP_ID = "c9e8c047-2a74-40a2-b28a-b162d5f5327c"
TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
SECRET = "Kp78Q~bot-secret-0123456789"
BOT = f"28:{APP_ID}"
PERSONAL = "a:17I0kl9EkpE1O9PH5TWrzrLNwnWWcfrU7QZjKR0WSfOpzbfcAg2IaydGElSo10tV"
GROUP = "19:9f2d6b1be6f94f8bb5c1a42e6a1f1c4b@thread.v2"
CHANNEL = "19:LydFnezGKSkhYoiLNP6kZ8AuXQr36EDAkvG9CNJSPKc1@thread.tacv2"
OPERATORS = "19:693ecdb923ac4458a5c23661b505fc84@thread.tacv2"
MAX_MESSAGE_BYTES = 40_000
ELEMENTS = {"RichTextBlock", "TextRun", "Action.Execute", "Action.Submit", "Action.OpenUrl"}


@dataclass(frozen=True, kw_only=True)
class Member:
    """Somebody of the tenant, or a guest."""

    id: str
    object_id: str
    name: str
    role: str = "user"
    mail: str = "megan@harbourlane.example"
    tenant: str = TENANT


MEGAN = Member(
    id="29:1XJKJMvc5GBtc2JwZq0oj8tHZmzrQgFmB39ATiQWA85gQtHieVkKilBZ9XHoq9j7Z",
    object_id="7faf8ab2-3d56-4244-b585-20c8a42ed2b8",
    name="Megan Bowen",
)
OLE = Member(
    id="29:1bSnHZ7Js2STWrgk6ScEErLk1Lp2zQuD5H2qQ960rtvstKp8tKLl-3r8b6DoW0QxZ",
    object_id="76b0b09f-d410-48fd-993e-84da521a597b",
    name="Ole Operator",
    mail="ole@harbourlane.example",
)
GUEST = Member(
    id="29:1URzNQM1x1PNMr1D7L5_lFe6qF6gEfAbkdG8_BUxOW2mTKryQqEZtBTqDt10-Mghk",
    object_id="6b7b3b2a-2c4b-4175-8582-41c9e685c1b5",
    name="Rick Stevens (Guest)",
    role="guest",
    mail="rick_fabrikam.example#EXT#@harbourlane.example",
)


@dataclass(kw_only=True)
class TeamsReplay(Replay):
    """What was said in each conversation, by its id; in a channel each reply chain has its own.

    `keys` are the private keys by their id, with the channels that each is endorsed for.
    """

    said: dict[str, list[Record]] = field(default_factory=dict[str, list[Record]])
    members: tuple[Member, ...] = (MEGAN, OLE, GUEST)
    tokens: set[str] = field(default_factory=set[str])
    secret: str = SECRET
    issued: int = 0
    lives: int = 3_599
    keys: dict[str, tuple[Any, tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[Any, tuple[str, ...]]]
    )
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    # People

    @property
    def service_url(self) -> str:
        """Where answers go, as each activity says."""
        return f"{self.url}/teams/"

    def say(
        self,
        words: str,
        /,
        *,
        conversation: str = PERSONAL,
        thread: str = "",
        by: Member = MEGAN,
        **more: Any,
    ) -> Record:
        """Let somebody write, to the bot; return the activity that tells of it."""
        number = self.number()
        kind = "channel" if "tacv2" in conversation else "groupChat"
        kind = "personal" if conversation.startswith("a:") else kind
        where = (
            f"{conversation};messageid={thread or number}" if kind == "channel" else conversation
        )
        mention = {
            "type": "mention",
            "mentioned": {"id": BOT, "name": "Cairn"},
            "text": "<at>Cairn</at>",
        }
        record = {
            **self._activity("message", number, where, kind, by),
            "textFormat": "plain",
            "text": words if kind == "personal" else f"<at>Cairn</at> {words}\n",
            "entities": [] if kind == "personal" else [mention],
            **more,
        }
        self.said.setdefault(where, []).append(record)
        return record

    def press(self, title: str, *, by: Member = OLE, where: str = "", old: bool = False) -> Record:
        """Let somebody press a button of the newest card that has it; return the activity.

        An `old` client knows no Action.Execute and takes what is in its place.
        """
        found = [
            (conversation, shown, action)
            for conversation, messages in self.said.items()
            for shown in messages
            if conversation.startswith(where)
            for action in _card(shown).get("actions", [])
            if action["title"] == title
        ]
        conversation, shown, action = found[-1]
        kind = "channel" if "tacv2" in conversation else "personal"
        number = self.number()
        if old:
            return {
                **self._activity("message", f"f:{number}", conversation, kind, by),
                "replyToId": shown["id"],
                "value": dict(action["fallback"]["data"]),
            }
        return {
            **self._activity("invoke", f"f:{number}", conversation, kind, by),
            "name": "adaptiveCard/action",
            "replyToId": shown["id"],
            "value": {
                "action": {
                    "type": action["type"],
                    "title": title,
                    "verb": action["verb"],
                    "data": dict(action["data"]),
                },
                "trigger": "manual",
            },
        }

    def number(self) -> str:
        return str(int(self.now.timestamp() * 1000) + next(self.numbers))

    def _activity(self, kind: str, id_: str, where: str, place: str, by: Member) -> Record:
        data: Record = {"tenant": {"id": TENANT}}
        if place == "channel":
            channel = where.partition(";")[0]
            data |= {"channel": {"id": channel}, "team": {"id": channel}}
        return {
            "type": kind,
            "id": id_,
            "timestamp": self.now.isoformat().replace("+00:00", "Z"),
            "serviceUrl": self.service_url,
            "channelId": "msteams",
            "from": {"id": by.id, "name": by.name, "aadObjectId": by.object_id},
            "conversation": {
                "id": where,
                "conversationType": place,
                "tenantId": TENANT,
                **({} if place == "personal" else {"isGroup": True}),
            },
            "recipient": {"id": BOT, "name": "Cairn"},
            "channelData": data,
        }

    def texts(self, conversation: str = PERSONAL) -> list[str]:
        """What the bot said in a conversation: texts, and all the words of cards."""
        return [
            each.get("text") or "\n".join(_words(_card(each)))
            for where, messages in self.said.items()
            if where.startswith(conversation)
            for each in messages
            if each["from"]["id"] == BOT
        ]

    # The Bot Connector's signature

    def publish(self, key_id: str, *endorsements: str) -> Any:
        """Publish another key, and sign with it from now on."""
        self.keys[key_id] = _key(key_id), endorsements or ("msteams", "webchat")
        return self.keys[key_id][0]

    def signed(
        self, activity: Any, *, headers: Mapping[str, Any] | None = None, key: Any = None,
        algorithm: str = "RS256", **changes: Any,
    ) -> tuple[bytes, dict[str, str]]:  # fmt: skip
        """A request of the Bot Connector's: the body and its headers."""
        body = activity if isinstance(activity, bytes) else json.dumps(activity).encode()
        key_id, (own, _) = list(self.keys.items())[-1]
        now = int(self.now.timestamp())
        claims = {
            "serviceurl": self.service_url,
            "nbf": now - 300,
            "exp": now + 3_300,
            "iss": "https://api.botframework.com",
            "aud": APP_ID,
            **changes,
        }
        token = jwt.encode(
            {name: value for name, value in claims.items() if value is not None},
            "" if algorithm == "none" else key or own,
            algorithm=algorithm,
            headers={"kid": key_id, "x5t": key_id, **(headers or {})},
        )
        return body, {"authorization": f"Bearer {token}", "content-type": "application/json"}

    # The connector

    def refused(self, asked: Asked) -> Reply | None:
        if not asked.path.startswith("/teams/"):
            return None
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            return Reply(status=401, body={"message": "Authorization has been denied."})
        return None

    def unknown(self, asked: Asked) -> Reply:
        return _error(404, "ServiceError", "No HTTP resource was found.")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        conversation = "/teams/v3/conversations/([^/]+)"
        return {
            ("GET", "/v1/.well-known/openidconfiguration"): self._metadata,
            ("GET", "/v1/.well-known/keys"): self._keys,
            ("POST", "/([^/]+)/oauth2/v2.0/token"): self._token,
            ("POST", "/teams/v3/conversations"): self._begin,
            ("POST", f"{conversation}/activities"): self._send,
            ("PUT", f"{conversation}/activities/([^/]+)"): self._update,
            ("GET", f"{conversation}/members/([^/]+)"): self._member,
        }

    def expire_tokens(self) -> None:
        """Make every access token that was issued an old one."""
        self.tokens.clear()

    def _metadata(self, asked: Asked) -> Reply:
        return Reply(
            body={
                "issuer": "https://api.botframework.com",
                "authorization_endpoint": "https://invalid.botframework.com",
                "jwks_uri": f"{self.url}/v1/.well-known/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            }
        )

    def _keys(self, asked: Asked) -> Reply:
        published = [
            {
                **json.loads(RSAAlgorithm.to_jwk(key.public_key())),
                "use": "sig",
                "kid": key_id,
                "x5t": key_id,
                "endorsements": list(endorsements),
            }
            for key_id, (key, endorsements) in self.keys.items()
        ]
        for each in published:
            del each["key_ops"]
        return Reply(body={"keys": published})

    def _token(self, asked: Asked, tenant: str) -> Reply:
        form = asked.body
        if form["grant_type"] != "client_credentials" or tenant != TENANT:
            return Reply(status=400, body={"error": "invalid_request", "error_codes": [90002]})
        if form["scope"] != "https://api.botframework.com/.default":
            return Reply(status=400, body={"error": "invalid_scope", "error_codes": [70011]})
        if (form["client_id"], form["client_secret"]) != (APP_ID, self.secret):
            return Reply(status=401, body={"error": "invalid_client", "error_codes": [7000215]})
        self.issued += 1
        token = f"eyJ0eXAiOiJKV1Qi.{self.issued}"
        self.tokens.add(token)
        body = {
            "token_type": "Bearer",
            "expires_in": self.lives,
            "ext_expires_in": self.lives,
            "access_token": token,
        }
        return Reply(body=body)

    def _begin(self, asked: Asked) -> Reply:
        body = asked.body
        channel = body.get("channelData", {}).get("channel", {}).get("id")
        if not body.get("isGroup") or not channel or "activity" not in body:
            return _error(400, "BadSyntax", "Incorrect conversation creation parameters")
        if body.get("tenantId") != TENANT:
            return _error(403, "Forbidden", "The tenant is not the bot's.")
        if channel not in (CHANNEL, OPERATORS):
            return _error(404, "ConversationNotFound", "Conversation not found.")
        number = self.number()
        where = f"{channel};messageid={number}"
        refused = self._keep(where, number, body["activity"])
        return refused or Reply(status=201, body={"id": where, "activityId": number})

    def _send(self, asked: Asked, conversation: str) -> Reply:
        known = (PERSONAL, GROUP, CHANNEL, OPERATORS)
        if conversation not in self.said and conversation not in known:
            return _error(404, "ConversationNotFound", "Conversation not found.")
        number = self.number()
        refused = self._keep(conversation, number, asked.body)
        return refused or Reply(status=201, body={"id": number})

    def _update(self, asked: Asked, conversation: str, sent: str) -> Reply:
        messages = self.said.get(conversation, [])
        at = next((at for at, each in enumerate(messages) if each["id"] == sent), None)
        if at is None or messages[at]["from"]["id"] != BOT:
            return _error(404, "ActivityNotFoundInConversation", "Activity not found.")
        wrong = _wrong(asked.body)
        if wrong is None:
            messages[at] = {**asked.body, "id": sent}
        return wrong or Reply(body={"id": sent})

    def _keep(self, where: str, number: str, activity: Record) -> Reply | None:
        wrong = _wrong(activity)
        if wrong is None:
            self.said.setdefault(where, []).append({**activity, "id": number})
        return wrong

    def _member(self, asked: Asked, conversation: str, user: str) -> Reply:
        for each in self.members:
            if user in (each.id, each.object_id):
                return Reply(
                    body={
                        "id": each.id,
                        "objectId": each.object_id,
                        "name": each.name,
                        "email": each.mail,
                        "userPrincipalName": each.mail,
                        "tenantId": each.tenant,
                        "userRole": each.role,
                    }
                )
        return _error(404, "MemberNotFoundInConversation", "The member is not in the roster.")


@cache
def _key(key_id: str) -> rsa.RSAPrivateKey:
    """A key of the connector; made once, since that takes a while."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


def _wrong(activity: Record) -> Reply | None:
    """The refusal of an activity that Teams does not take."""
    if len(json.dumps(activity, ensure_ascii=False).encode()) > MAX_MESSAGE_BYTES:
        return _error(413, "MessageSizeTooBig", "Message size too large.")
    if activity.get("type") != "message" or activity["from"] != {"id": BOT}:
        return _error(400, "BadArgument", "Unknown activity type")
    card = _card(activity)
    if bool(card) == bool(activity.get("text")):
        return _error(400, "BadArgument", "Activity must have a text or an attachment.")
    if card and (card["type"], card["version"]) != ("AdaptiveCard", "1.4"):
        return _error(400, "BadSyntax", "Cards - invalid card type")
    elements = [*card.get("body", []), *card.get("actions", [])]
    if not all(each["type"] in ELEMENTS for each in elements):
        return _error(400, "BadSyntax", "Unknown element in the card")
    return None


def _card(activity: Record) -> Record:
    for each in activity.get("attachments", []):
        if each["contentType"] == "application/vnd.microsoft.card.adaptive":
            return each["content"]
    return {}


def _words(card: Record) -> list[str]:
    shown = [run["text"] for block in card.get("body", []) for run in block["inlines"]]
    return shown + [f"[{action['title']}]" for action in card.get("actions", [])]


def _error(status: int, code: str, message: str) -> Reply:
    return Reply(status=status, body={"error": {"code": code, "message": message}})


@contextmanager
def teams_replay() -> Generator[TeamsReplay]:
    """Serve a tenant until the block ends."""
    with served(TeamsReplay()) as replay:
        replay.publish("ThKI0iVn5rJF3dqNHFbsk9A2oaw")
        yield replay
