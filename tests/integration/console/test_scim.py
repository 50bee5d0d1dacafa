"""Directories over the real database: what Entra ID and Okta send, and who may not."""

# pyright: basic

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage.test_console import Deployed
from tests.support.console import PASSWORD, Browser, add_person, signed_in
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx
    from tests.plugins.postgres import Database

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


class Directed(Deployed):
    """A deployment with a directory."""

    def __init__(self, front: Front, world: Any) -> None:
        super().__init__(front, world)
        self.owner = signed_in(self.app, world.workspace_id, f"owner-{new_id()}@example.org")

    def token(self, **more: Any) -> str:
        return self.front.call("POST", "/v1/scim/tokens", json={"name": "Entra ID", **more})[
            "secret"
        ]

    def directory(self, token: str | None = None) -> Directory:
        return Directory(Browser(self.app), token or self.token())

    def role(self, user_id: str) -> str:
        people = self.front.call("GET", "/v1/people")["items"]
        return next(each["role"] for each in people if each["id"] == user_id)


@dataclass
class Directory:
    browser: Browser
    token: str

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            more["json"] = body
            headers["content-type"] = "application/scim+json"
        return self.browser.send(method, f"/scim/v2{path}", headers=headers, **more)

    def ask(self, path: str, **params: Any) -> dict[str, Any]:
        answer = self.send("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/scim+json"
        return answer.json()

    def add(self, login: str | None = None, **more: Any) -> dict[str, Any]:
        body = {"schemas": [USER], "userName": login or f"ada-{new_id()}@example.org", **more}
        answer = self.send("POST", "/Users", body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def group(self, *members: str, name: str | None = None) -> dict[str, Any]:
        listed = [{"value": each} for each in members]
        body = {"schemas": [GROUP], "displayName": name or f"desk {new_id()}", "members": listed}
        answer = self.send("POST", "/Groups", body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def patch(self, path: str, *operations: dict[str, Any]) -> httpx.Response:
        return self.send("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})


@pytest.fixture
def deploy(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Directed]]:
    worlds: list[Any] = []

    def deployed(edition: str = "full") -> Directed:
        own = {"CAIRN_EDITION": edition}
        for name, value in (environment(database.app_url, tmp_path) | own).items():
            monkeypatch.setenv(name, value)
        stand_in_for_aws(monkeypatch, Cloud())
        world = open_world(database.owner_url, database.app_url, f"scim {new_id()}")
        worlds.append(world)
        return Directed(Front(world.key), world)

    yield deployed
    for world in worlds:
        world.pool.close()


@pytest.fixture
def deployed(deploy: Callable[..., Directed]) -> Directed:
    return deploy()


def refused(answer: httpx.Response, status: int, kind: str | None = None) -> str:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert answer.headers["content-type"] == "application/scim+json"
    assert (body["schemas"], body["status"]) == ([ERROR], str(status))
    assert body.get("scimType") == kind
    return body["detail"]


# Tokens and editions


def test_a_directory_needs_a_token_of_its_own_that_is_good_now(deployed: Directed) -> None:
    token = deployed.token(days=1)
    directory = deployed.directory(token)
    assert directory.ask("/Users")["totalResults"] == 1
    for other in ("", "scim_" + "A" * 43, token[:-1], deployed.world.key):
        answer = Directory(Browser(deployed.app), other).send("GET", "/Users")
        refused(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
    (row,) = deployed.front.call("GET", "/v1/scim/tokens")["items"]
    assert row["used_at"] is not None
    assert "secret" not in row and "token_hash" not in row
    front = deployed.front
    assert (
        front.answer("GET", "/v1/people", headers={"authorization": f"Bearer {token}"}).status_code
        == 401
    )
    front.call("DELETE", f"/v1/scim/tokens/{row['id']}")
    refused(directory.send("GET", "/Users"), 401)
    assert [each["meta"] for each in deployed.entries("scim.token_revoked")] == [
        {"token_id": row["id"]}
    ]


def test_a_token_is_over_after_its_days(deployed: Directed) -> None:
    directory = deployed.directory(deployed.token(days=1))
    scim = deployed.app.state.services.scim
    moment = scim.platform.clock() + timedelta(days=1)
    object.__setattr__(scim.platform, "clock", lambda: moment)
    refused(directory.send("GET", "/Users"), 401)


@pytest.mark.parametrize("edition", ["team", "memory"])
def test_an_edition_without_directories_says_so(
    deploy: Callable[..., Directed], edition: str
) -> None:
    deployed = deploy(edition)
    answer = deployed.front.answer("POST", "/v1/scim/tokens", json={"name": "Entra ID"})
    assert answer.status_code == 403
    assert f"edition {edition} has no SCIM" in answer.json()["detail"]
    assert f"edition {edition}" in refused(deployed.directory("scim_x").send("GET", "/Users"), 403)
    page = deployed.owner.get("/console/scim")
    assert page.status_code == 200
    assert f"edition {edition} has no SCIM" in page.text


def test_a_directory_asks_so_often_a_minute(deployed: Directed) -> None:
    directory = deployed.directory()
    scim = deployed.app.state.services.scim
    moment = scim.platform.clock()
    object.__setattr__(scim.platform, "clock", lambda: moment)
    object.__setattr__(scim.limit, "_most", 2)
    assert directory.send("GET", "/Users").status_code == 200
    assert directory.send("GET", "/Users").status_code == 200
    answer = directory.send("GET", "/Users")
    refused(answer, 429)
    assert 0 < int(answer.headers["retry-after"]) <= 60


def test_a_workspace_sees_and_changes_nobody_of_another(deploy: Callable[..., Directed]) -> None:
    ours, theirs = deploy(), deploy()
    mine, other = ours.directory(), theirs.directory()
    ada, desk = mine.add(), mine.group()
    assert ada["id"] not in str(other.ask("/Users"))
    assert other.ask("/Groups")["totalResults"] == 0
    for method, path in (
        ("GET", f"/Users/{ada['id']}"),
        ("DELETE", f"/Users/{ada['id']}"),
        ("GET", f"/Groups/{desk['id']}"),
        ("DELETE", f"/Groups/{desk['id']}"),
    ):
        refused(other.send(method, path), 404)
    gone = {"op": "replace", "path": "active", "value": False}
    refused(other.patch(f"/Users/{ada['id']}", gone), 404)
    add = {"op": "add", "path": "members", "value": [{"value": ada["id"]}]}
    refused(other.patch(f"/Groups/{other.group()['id']}", add), 400, "invalidValue")
    body = {"schemas": [USER], "userName": ada["userName"]}
    refused(other.send("POST", "/Users", body), 409, "uniqueness")
    assert mine.ask(f"/Users/{ada['id']}") == ada


# What there is


def test_it_says_what_it_can(deployed: Directed) -> None:
    directory = deployed.directory()
    provider = directory.ask("/ServiceProviderConfig")
    assert provider["patch"]["supported"] and provider["filter"]["maxResults"] == 200
    assert not provider["bulk"]["supported"] and not provider["sort"]["supported"]
    kinds = {each["name"]: each["schema"] for each in directory.ask("/ResourceTypes")["Resources"]}
    assert kinds == {"User": USER, "Group": GROUP}
    for name, urn in kinds.items():
        assert directory.ask(f"/ResourceTypes/{name}")["endpoint"] == f"/{name}s"
        attributes = {each["name"] for each in directory.ask(f"/Schemas/{urn}")["attributes"]}
        example = directory.add() if name == "User" else directory.group()
        assert set(example) - {"schemas", "id", "meta"} <= attributes
    assert directory.ask("/Schemas")["totalResults"] == 2
    for path in ("/Me", "/Bulk", "/Schemas/nothing", "/Users/nobody", f"/Groups/{new_id()}"):
        refused(directory.send("GET", path), 404)


def test_people_are_found_by_name_and_by_what_the_directory_calls_them(deployed: Directed) -> None:
    directory = deployed.directory()
    ada = directory.add(externalId="A-1", displayName="Ada")
    for text in (
        f'userName eq "{ada["userName"]}"',
        f'USERNAME Eq "{ada["userName"].upper()}"',
        f'{USER}:userName eq "{ada["userName"]}"',
        'externalId eq "A-1"',
    ):
        listed = directory.ask("/Users", filter=text)
        assert [each["id"] for each in listed["Resources"]] == [ada["id"]], text
    for text in ('userName eq ""', 'externalId eq "a-1"', 'userName eq "nobody"'):
        assert directory.ask("/Users", filter=text)["totalResults"] == 0, text
    for text in (
        'userName sw "a"',
        "userName pr",
        'title eq "x"',
        "",
        'userName eq "a" or active eq true',
        'userName eq "\\q"',
    ):
        refused(directory.send("GET", "/Users", params={"filter": text}), 400, "invalidFilter")
    for value in ("\\u0000", "\\ud800", "x" * 300):
        text = f'userName eq "{value}"'
        refused(directory.send("GET", "/Users", params={"filter": text}), 400, "invalidValue")


def test_lists_come_in_pages(deployed: Directed) -> None:
    directory = deployed.directory()
    logins = [directory.add()["userName"] for _ in range(4)]
    first = directory.ask("/Users", startIndex=2, count=2)
    assert (first["totalResults"], first["startIndex"], first["itemsPerPage"]) == (5, 2, 2)
    assert [each["userName"] for each in first["Resources"]] == logins[:2]
    assert directory.ask("/Users", count=0)["Resources"] == []
    assert directory.ask("/Users", count=0)["totalResults"] == 5
    assert directory.ask("/Users", startIndex=99)["totalResults"] == 5
    assert directory.ask("/Users", startIndex=-3, count=-1)["startIndex"] == 1
    refused(directory.send("GET", "/Users", params={"count": "all"}), 400, "invalidValue")
    desk = directory.group(directory.add()["id"])
    (only,) = directory.ask("/Groups", excludedAttributes="members")["Resources"]
    assert "members" not in only and only["id"] == desk["id"]
    some = directory.ask(f"/Groups/{desk['id']}", attributes="displayName")
    assert set(some) == {"schemas", "id", "displayName"}


# People


def test_somebody_is_added_once(deployed: Directed) -> None:
    directory = deployed.directory()
    login = f"Ada-{new_id()}@Example.org"
    ada = directory.add(login, name={"givenName": "Ada", "familyName": "Lovelace"}, externalId="7")
    assert (ada["userName"], ada["displayName"], ada["active"]) == (
        login.lower(),
        "Ada Lovelace",
        True,
    )
    assert ada["emails"][0]["value"] == login.lower()
    assert ada["meta"]["location"].endswith(f"/scim/v2/Users/{ada['id']}")
    assert deployed.role(ada["id"]) == "reader"
    again = directory.send("POST", "/Users", {"schemas": [USER], "userName": login})
    refused(again, 409, "uniqueness")
    with ThreadPoolExecutor(4) as pool:
        body = {"schemas": [USER], "userName": f"b-{new_id()}@example.org"}
        answers = list(pool.map(lambda _: directory.send("POST", "/Users", body), range(4)))
    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"userName": "ada"},
        {"schemas": [USER]},
        {"schemas": [USER], "userName": 7},
        {"schemas": [USER], "userName": "a b"},
        {"schemas": [USER], "userName": "a" * 300},
        {"schemas": [USER], "userName": "ada", "active": "maybe"},
        {"schemas": [USER], "userName": "ada", "externalId": "x" * 257},
        {"schemas": [USER], "userName": "ada", "displayName": "a\u0000b"},
        {"schemas": [USER], "userName": "ada", "name": "Ada"},
    ],
)
def test_a_body_that_is_no_user_adds_nobody(deployed: Directed, body: Any) -> None:
    directory = deployed.directory()
    answer = directory.send("POST", "/Users", body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["scimType"] in ("invalidSyntax", "invalidValue")
    assert directory.ask("/Users")["totalResults"] == 1


def test_a_body_that_is_no_json_is_refused_as_scim_says_it(deployed: Directed) -> None:
    directory = deployed.directory()
    headers = {"authorization": f"Bearer {directory.token}"}
    for type_, content, status in (
        ("application/scim+json", "{", 400),
        ("text/plain", "{}", 415),
        ("application/json", '{"userName": 1, "userName": 2}', 400),
    ):
        answer = directory.browser.send(
            "POST", "/scim/v2/Users", headers={**headers, "content-type": type_}, content=content
        )
        assert answer.status_code == status, answer.text
        assert answer.json()["schemas"] == [ERROR]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "Replace", "path": "active", "value": "False"},
        {"op": "replace", "path": "active", "value": False},
        {"op": "replace", "value": {"active": False}},
        {"op": "Add", "value": {f"{USER}:active": "false"}},
        {"op": "replace", "path": f"{USER}:active", "value": False},
    ],
)
def test_who_leaves_is_signed_out_at_once_and_comes_back_when_they_do(
    deployed: Directed, operation: dict[str, Any]
) -> None:
    directory = deployed.directory()
    login = f"ada-{new_id()}@example.org"
    browser = signed_in(deployed.app, deployed.world.workspace_id, login, PersonRole.OPERATOR)
    (ada,) = directory.ask("/Users", filter=f'userName eq "{login}"')["Resources"]
    assert browser.get("/").status_code == 200
    left = directory.patch(f"/Users/{ada['id']}", operation)
    assert (left.status_code, left.json()["active"]) == (200, False), left.text
    assert browser.get("/").status_code == 303
    assert Browser(deployed.app).sign_in(login).status_code == 401
    back = directory.patch(f"/Users/{ada['id']}", {"op": "replace", "value": {"active": True}})
    assert back.json()["active"] is True
    assert Browser(deployed.app).sign_in(login).status_code == 303
    assert deployed.role(ada["id"]) == "operator"
    changes = [each["meta"]["disabled"] for each in deployed.entries("person.changed")]
    assert changes == [True, False]


def test_what_entra_id_sends_besides_is_passed_over(deployed: Directed) -> None:
    directory = deployed.directory()
    ada = directory.add(
        displayName="Ada", title="Dr", emails=[{"type": "work", "value": "x@example.org"}],
        **{ENTERPRISE: {"department": "engines"}},
    )  # fmt: skip
    answer = directory.patch(
        f"/Users/{ada['id']}",
        {"op": "Add", "path": 'emails[type eq "work"].value', "value": "y@example.org"},
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "poems"},
        {"op": "Replace", "path": "displayName", "value": "Ada L."},
        {"op": "Add", "path": "externalId", "value": "entra-7"},
        {"op": "Replace", "value": {"name.givenName": "Ada", "title": "Countess", "id": "7"}},
    )
    assert answer.status_code == 200, answer.text
    assert (answer.json()["displayName"], answer.json()["externalId"]) == ("Ada L.", "entra-7")
    gone = directory.patch(f"/Users/{ada['id']}", {"op": "remove", "path": "externalId"})
    assert "externalId" not in gone.json()


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ({"op": "copy", "path": "active", "value": True}, "invalidSyntax"),
        ({"op": "replace", "path": "active"}, "invalidValue"),
        ({"op": "replace", "path": "active", "value": "no"}, "invalidValue"),
        ({"op": "remove"}, "noTarget"),
        ({"op": "replace", "path": "id", "value": "x"}, "mutability"),
        ({"op": "remove", "path": "userName"}, "mutability"),
        ({"op": "replace", "path": "userName", "value": ""}, "invalidValue"),
        ({"op": "replace", "path": "emails[", "value": "x"}, "invalidPath"),
        ({"op": "replace", "path": 7, "value": "x"}, "invalidPath"),
        ({"op": "replace", "value": "x"}, "invalidSyntax"),
    ],
)
def test_a_patch_that_says_nothing_changes_nothing(
    deployed: Directed, operation: dict[str, Any], kind: str
) -> None:
    directory = deployed.directory()
    ada = directory.add()
    first = {"op": "replace", "path": "displayName", "value": "Somebody else"}
    refused(directory.patch(f"/Users/{ada['id']}", first, operation), 400, kind)
    assert directory.ask(f"/Users/{ada['id']}") == ada


def test_okta_replaces_a_user_whole(deployed: Directed) -> None:
    directory = deployed.directory()
    ada, bob = directory.add(externalId="1"), directory.add()
    body = {**ada, "userName": f"new-{new_id()}@example.org", "displayName": "New", "active": False}
    answer = directory.send("PUT", f"/Users/{ada['id']}", body)
    assert answer.status_code == 200, answer.text
    after = answer.json()
    assert (after["userName"], after["displayName"], after["active"]) == (
        body["userName"], "New", False,
    )  # fmt: skip
    taken = directory.send("PUT", f"/Users/{ada['id']}", {**body, "userName": bob["userName"]})
    refused(taken, 409, "uniqueness")
    assert len(deployed.entries("scim.user_renamed")) == 1


def test_who_is_deleted_is_gone_for_the_directory_and_comes_back_with_nothing(
    deployed: Directed,
) -> None:
    directory = deployed.directory()
    login = f"ada-{new_id()}@example.org"
    browser = signed_in(deployed.app, deployed.world.workspace_id, login, PersonRole.ADMIN)
    (ada,) = directory.ask("/Users", filter=f'userName eq "{login}"')["Resources"]
    desk = directory.group(ada["id"])
    assert directory.send("DELETE", f"/Users/{ada['id']}").status_code == 204
    assert browser.get("/").status_code == 303
    assert Browser(deployed.app).sign_in(login).status_code == 401
    refused(directory.send("GET", f"/Users/{ada['id']}"), 404)
    refused(directory.send("DELETE", f"/Users/{ada['id']}"), 404)
    assert directory.ask("/Users", filter=f'userName eq "{login}"')["totalResults"] == 0
    assert directory.ask(f"/Groups/{desk['id']}")["members"] == []
    add = {"op": "add", "path": "members", "value": [{"value": ada["id"]}]}
    refused(directory.patch(f"/Groups/{desk['id']}", add), 400, "invalidValue")
    back = directory.add(login)
    assert (back["id"], back["active"], back["groups"]) == (ada["id"], True, [])
    assert deployed.role(ada["id"]) == "reader"
    assert Browser(deployed.app).sign_in(login).status_code == 401  # the password went
    assert len(deployed.entries("scim.user_removed")) == 1


def test_the_last_owner_stays(deployed: Directed) -> None:
    directory = deployed.directory()
    (owner,) = directory.ask("/Users")["Resources"]
    path = f"/Users/{owner['id']}"
    refused(directory.patch(path, {"op": "replace", "path": "active", "value": False}), 409)
    refused(directory.send("DELETE", path), 409)
    desk = directory.group(owner["id"])
    deployed.front.call("PUT", f"/v1/scim/groups/{desk['id']}", json={"role": "reader"})
    assert deployed.role(owner["id"]) == "owner"
    assert deployed.owner.get("/").status_code == 200


# Groups and roles


def test_groups_give_roles_and_of_several_the_strongest_counts(deployed: Directed) -> None:
    directory = deployed.directory()
    ada = directory.add()
    desk, admins = directory.group(ada["id"]), directory.group()
    assert deployed.role(ada["id"]) == "reader"
    give = deployed.front.call
    give("PUT", f"/v1/scim/groups/{desk['id']}", json={"role": "operator"})
    give("PUT", f"/v1/scim/groups/{admins['id']}", json={"role": "admin"})
    assert deployed.role(ada["id"]) == "operator"
    member = {"value": ada["id"]}
    for join, leave in (
        (
            {"op": "Add", "path": "members", "value": [member]},
            {"op": "Remove", "path": "members", "value": [member]},
        ),
        (
            {"op": "add", "path": "members", "value": member},
            {"op": "remove", "path": f'members[value eq "{ada["id"]}"]'},
        ),
        (
            {"op": "replace", "path": "members", "value": [member]},
            {"op": "remove", "path": "members"},
        ),
        (
            {"op": "add", "value": {"members": [member]}},
            {"op": "replace", "path": "members", "value": []},
        ),
    ):
        joined = directory.patch(f"/Groups/{admins['id']}", join)
        assert joined.status_code == 200, joined.text
        assert [each["value"] for each in joined.json()["members"]] == [ada["id"]]
        assert deployed.role(ada["id"]) == "admin"
        assert directory.patch(f"/Groups/{admins['id']}", leave).json()["members"] == []
        assert deployed.role(ada["id"]) == "operator"
    groups = directory.ask(f"/Users/{ada['id']}")["groups"]
    assert [each["value"] for each in groups] == [desk["id"]]
    assert directory.send("DELETE", f"/Groups/{desk['id']}").status_code == 204
    assert deployed.role(ada["id"]) == "reader"


def test_a_role_that_a_group_takes_away_renews_open_sessions(deployed: Directed) -> None:
    directory = deployed.directory()
    login = f"ada-{new_id()}@example.org"
    browser = signed_in(deployed.app, deployed.world.workspace_id, login, PersonRole.READER)
    (ada,) = directory.ask("/Users", filter=f'userName eq "{login}"')["Resources"]
    desk = directory.group(ada["id"])
    deployed.front.call("PUT", f"/v1/scim/groups/{desk['id']}", json={"role": "admin"})
    assert browser.get("/console/people").status_code == 200
    before = dict(browser.cookies)
    directory.patch(f"/Groups/{desk['id']}", {"op": "remove", "path": "members"})
    assert browser.get("/console/people").status_code == 403
    browser.get("/")
    assert dict(browser.cookies) != before


def test_groups_are_named_once_and_replaced_whole(deployed: Directed) -> None:
    directory = deployed.directory()
    ada, bob = directory.add()["id"], directory.add()["id"]
    desk, other = directory.group(ada, name="Desk"), directory.group(name="Other")
    refused(
        directory.send("POST", "/Groups", {"schemas": [GROUP], "displayName": "DESK"}),
        409,
        "uniqueness",
    )
    path = f"/Groups/{desk['id']}"
    okta = {"op": "replace", "value": {"id": desk["id"], "displayName": "other"}}
    refused(directory.patch(path, okta), 409, "uniqueness")
    (hit,) = directory.ask("/Groups", filter='displayName eq "desk"')["Resources"]
    assert hit["id"] == desk["id"]
    body = {"schemas": [GROUP], "displayName": "Helpers", "members": [{"value": bob}]}
    after = directory.send("PUT", path, body).json()
    assert after["displayName"] == "Helpers"
    assert [each["value"] for each in after["members"]] == [bob]
    assert directory.ask(f"/Groups/{other['id']}")["members"] == []
    for members in ([{"value": "x"}], [{"value": str(new_id())}], "x", [{"value": other["id"]}]):
        answer = directory.send("PUT", path, {**body, "members": members})
        assert answer.status_code == 400, members
    many = [{"value": str(new_id())} for _ in range(1_001)]
    refused(directory.send("PUT", path, {**body, "members": many}), 400, "tooMany")
    narrowed = {"op": "remove", "path": 'members[display eq "x"]'}
    refused(directory.patch(path, narrowed), 400, "invalidFilter")


def test_admins_decide_nothing_about_owners(deployed: Directed) -> None:
    directory = deployed.directory()
    second = add_person(
        deployed.app, deployed.world.workspace_id, f"second-{new_id()}", PersonRole.OWNER
    ).person
    desk, owners = directory.group(str(second.id)), directory.group()
    deployed.front.call("PUT", f"/v1/scim/groups/{owners['id']}", json={"role": "owner"})
    admin = deployed.person(f"admin-{new_id()}", PersonRole.ADMIN)
    for group, role in ((desk, "reader"), (desk, "owner"), (owners, "reader"), (owners, "")):
        answer = admin.submit(f"/console/scim/groups/{group['id']}", role=role)
        assert answer.status_code == 403, (group, role)
    assert admin.submit("/console/scim", name="Entra ID").status_code == 403
    assert deployed.role(str(second.id)) == "owner"
    services, world = deployed.app.state.services, deployed.world
    with services.platform.transactions.reading(system_principal(world.workspace_id)) as stores:
        assert len(stores.scim.tokens()) == 1


def test_readers_see_nothing_of_it(deployed: Directed) -> None:
    for role in (PersonRole.OPERATOR, PersonRole.REVIEWER, PersonRole.READER):
        browser = deployed.person(f"{role}-{new_id()}", role)
        assert browser.get("/console/scim").status_code == 403


def test_the_page_makes_and_revokes_a_token_and_sets_a_role(deployed: Directed) -> None:
    owner = deployed.owner
    wrong = owner.submit("/console/scim", name="Entra ID", days="soon")
    assert wrong.status_code == 422 and "is a number from 1 to 3650" in wrong.text
    page = owner.submit("/console/scim", name="<b>Entra</b>", days="30")
    assert page.status_code == 201 and "<b>Entra</b>" not in page.text
    token = page.text.partition("scim_")[2][:43]
    directory = deployed.directory(f"scim_{token}")
    desk = directory.group(directory.add()["id"], name="<i>Desk</i>")
    shown = owner.get("/console/scim").text
    assert token not in shown and "<i>Desk</i>" not in shown and "/scim/v2" in shown
    assert owner.submit(f"/console/scim/groups/{desk['id']}", role="king").status_code == 422
    done = owner.submit(f"/console/scim/groups/{desk['id']}", role="operator")
    assert done.headers["location"] == "/console/scim?done=role"
    (row,) = deployed.front.call("GET", "/v1/scim/tokens")["items"]
    assert owner.submit(f"/console/scim/{row['id']}/revoke").status_code == 422
    assert owner.submit(f"/console/scim/{row['id']}/revoke", meant="yes").status_code == 303
    refused(directory.send("GET", "/Users"), 401)


def test_a_workspace_has_ten_tokens_at_most(deployed: Directed) -> None:
    for _ in range(10):
        deployed.token()
    answer = deployed.front.answer("POST", "/v1/scim/tokens", json={"name": "one more"})
    assert answer.status_code == 422
    assert "at most 10" in answer.json()["detail"]


def test_the_ledger_names_the_token_and_nobody(deployed: Directed) -> None:
    directory = deployed.directory()
    ada = directory.add(displayName="Ada Lovelace")
    directory.group(ada["id"], name="Desk of poems")
    (row,) = deployed.front.call("GET", "/v1/scim/tokens")["items"]
    (added,) = (
        each for each in deployed.entries("person.added") if each["meta"]["person_id"] == ada["id"]
    )
    assert added["actor_id"] == row["id"]
    text = str([deployed.entries(f"scim.{each}") for each in ("group_added", "group_changed")])
    assert "poems" not in text and "Ada" not in text and ada["userName"] not in text
    assert PASSWORD not in text
