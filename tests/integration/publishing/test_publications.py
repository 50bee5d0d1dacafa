"""Publishing over the API as it is wired, over PostgreSQL: who may, who reads, what goes."""

from __future__ import annotations

import asyncio
import base64
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from mangum import Mangum
from tests.support import front as fronts
from tests.support.console import BASE, register_hashing, signed_in
from tests.support.embedding import HashingEmbedder
from tests.support.front import Front
from tests.support.ingesting import Documents
from tests.support.publishing import SITES_URL, Bucket, hold_objects, visit
from tests.support.world import World, open_world

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.options import ApiOptions
from cairn.kernel.access import PersonRole, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.publishing import publications
from cairn.settings import ApiSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from tests.plugins.postgres import Database

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CANARY = "Zanzibarquokka"
PNG = b"\x89PNG\r\n\x1a\n...."


@dataclass
class Publishing:
    """A workspace's API, its bucket, and anybody who reads."""

    front: Front
    world: World
    bucket: Bucket
    folder: Path

    def report(
        self, title: str = "Tides of March", body: str = "High at noon.", **more: Any
    ) -> str:
        return self.front.call(
            "POST", "/v1/reports", json={"title": title, "body": body, "keywords": ["x"], **more}
        )["id"]

    def publish(self, **body: Any) -> dict[str, Any]:
        return self.front.call("POST", "/v1/publications", json=body)

    def files(self, **files: bytes) -> list[dict[str, str]]:
        return [
            {"path": path, "content_base64": base64.b64encode(content).decode()}
            for path, content in files.items()
        ]

    def visit(self, url: str, method: str = "GET", **given: Any) -> httpx.Response:
        return visit(self.front.app, url, method, **given)

    def path(self, path: str, method: str = "GET", **given: Any) -> httpx.Response:
        return self.visit(SITES_URL + path, method, **given)

    def listed(self) -> list[dict[str, Any]]:
        return self.front.call("GET", "/v1/publications")["items"]


def opened(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, sites_url: str
) -> Publishing:
    register_hashing(database)
    world = open_world(database.owner_url, database.app_url, f"sites {new_id()}")
    for name, value in fronts.environment(database.app_url, folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAIRN_SITES_URL", sites_url)
    fronts.stand_in_for_aws(monkeypatch, fronts.Cloud())
    bucket = hold_objects(monkeypatch, folder)
    front = Front(world.key, HashingEmbedder(), ApiOptions(sites_url=sites_url))
    return Publishing(front, world, bucket, folder)


@pytest.fixture
def sites(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Publishing]:
    publishing = opened(database, tmp_path, monkeypatch, SITES_URL)
    yield publishing
    publishing.world.pool.close()


def test_a_report_is_published_read_by_anybody_listed_and_withdrawn(sites: Publishing) -> None:
    report = sites.report(HOSTILE, f"High at noon. {HOSTILE}")
    published = sites.publish(report_id=report, name="tides-of-march")
    assert published["url"].startswith(f"{SITES_URL}/sites/")
    assert published["url"].endswith("/tides-of-march/")
    page = sites.visit(published["url"])
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "High at noon." in page.text
    assert "<script" not in page.text
    assert "<img" not in page.text
    assert sites.listed() == [published]
    style = sites.visit(published["url"] + "style.css")
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert sites.front.call("DELETE", f"/v1/publications/{published['id']}") == {
        "id": published["id"]
    }
    assert sites.visit(published["url"]).status_code == 404
    assert sites.visit(published["url"] + "style.css").status_code == 404
    assert sites.listed() == []
    assert sites.bucket.held == {}
    assert sites.front.answer("DELETE", f"/v1/publications/{published['id']}").status_code == 404
    entries = sites.front.call("GET", "/v1/ledger", params={"type": "publication", "limit": 9})
    assert [each["type"] for each in entries["items"]] == [
        "publication.published",
        "publication.withdrawn",
    ]


def test_the_public_host_is_told_by_the_setting_alone_whoever_asks(sites: Publishing) -> None:
    told = sites.front.call("GET", "/v1/publications/host")
    for host in ("evil.example", "sites.evil.example"):
        headers = {"host": host, "x-forwarded-host": host, "x-cairn-host": host}
        assert sites.front.call("GET", "/v1/publications/host", headers=headers) == told
    published = sites.front.call("POST", "/v1/publications", json={"report_id": sites.report()})
    assert published["url"] == f"{told['url']}{published['name']}/"
    assert (told["source"], told["reason"]) == ("CAIRN_SITES_URL", None)
    assert f"//{told['hostname']}" in told["url"]
    assert sites.visit(published["url"]).status_code == 200


def test_every_answer_of_the_sites_has_the_headers_that_keep_scripts_out(
    sites: Publishing,
) -> None:
    published = sites.publish(
        files=sites.files(**{"index.html": HOSTILE.encode(), "img/a.png": PNG}), title="Brochure"
    )
    page = sites.visit(published["url"])
    image = sites.visit(published["url"] + "img/a.png")
    missing = sites.visit(published["url"] + "no.html")
    assert (page.content, image.content) == (HOSTILE.encode(), PNG)
    for answer in (page, image, missing):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in answer.headers
    for answer in (page, image):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self' https: data:" in policy
        assert "script-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
    assert page.headers["cache-control"] == "no-cache"
    assert image.headers["cache-control"] == "private, max-age=3600"
    assert image.headers["content-type"] == "image/png"
    assert missing.headers["cache-control"] == "no-store"


def test_a_picture_comes_through_the_gateway_of_aws_as_it_is(sites: Publishing) -> None:
    files = sites.files(**{"index.html": b"<p>Hello</p>", "a.png": PNG})
    path = urlsplit(sites.publish(files=files, title="Brochure")["url"]).path + "a.png"
    host = urlsplit(SITES_URL).netloc
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "gateway.example", "x-cairn-edge": "s" * 64, "x-cairn-host": host},
        "requestContext": {
            "http": {"method": "GET", "path": path, "sourceIp": "192.0.2.1"},
            "domainName": "gateway.example",
            "stage": "$default",
        },
        "isBase64Encoded": False,
    }
    options = ApiOptions(sites_url=SITES_URL, edge_secrets=("s" * 64,))
    front = Front(sites.world.key, HashingEmbedder(), options)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        answer = Mangum(front.app, lifespan="off")(event, None)  # type: ignore[arg-type]
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
    assert base64.b64decode(answer["body"]) == PNG
    assert answer["headers"]["content-type"] == "image/png"


def test_a_page_is_told_unchanged_by_its_tag_and_its_head_has_no_body(sites: Publishing) -> None:
    url = sites.publish(report_id=sites.report())["url"]
    page = sites.visit(url)
    tag = page.headers["etag"]
    for header in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = sites.visit(url, headers={"if-none-match": header})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert sites.visit(url, headers={"if-none-match": '"other"'}).status_code == 200
    head = sites.visit(url, "HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(page.content))
    part = sites.visit(url, headers={"range": "bytes=0-3"})
    assert (part.status_code, part.headers["accept-ranges"]) == (200, "none")
    refused = sites.visit(url, "POST")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_a_folder_without_its_slash_is_sent_to_it_with_the_query(sites: Publishing) -> None:
    files = sites.files(**{"a/index.html": b"<p>a", "a/b.txt": b"b", "brochure.html": b"<p>b"})
    url = sites.publish(files=files, title="Tree", name="tree")["url"]
    path = urlsplit(url).path
    moved = sites.visit(url + "a?x=1&y=%2F")
    assert (moved.status_code, moved.headers["location"]) == (301, f"{path}a/?x=1&y=%2F")
    root = sites.visit(url.rstrip("/"))
    assert (root.status_code, root.headers["location"]) == (301, path)
    hostile = sites.path(path + "a?x=%0d%0aset-cookie:%20y")
    assert hostile.headers["location"] == f"{path}a/?x=%0d%0aset-cookie:%20y"
    assert "set-cookie" not in hostile.headers
    assert sites.visit(url + "a/").text == "<p>a"
    assert sites.visit(url + "a/b.txt").headers["content-type"] == "text/plain; charset=utf-8"
    assert sites.visit(url).status_code == 404  # no index is made up
    assert sites.visit(url + "brochure.html").status_code == 200
    assert sites.visit(url + "brochure.html/").status_code == 404
    assert sites.visit(url + "A/").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "%2e%2e/x",
        "..%2fx",
        "%252e%252e/x",
        "x%00.html",
        "a//b",
        ".git/config",
        "%5c..",
        "ä",
    ],
)
def test_a_path_that_climbs_is_refused(sites: Publishing, path: str) -> None:
    root = urlsplit(sites.publish(report_id=sites.report())["url"]).path
    assert sites.path(root + path.replace("../", "%2e%2e/")).status_code == 403


def test_the_console_serves_no_sites_and_the_sites_host_nothing_else(sites: Publishing) -> None:
    path = urlsplit(sites.publish(report_id=sites.report())["url"]).path
    for host in (BASE, "http://localhost:8080", "http://cairn", "http://sites.localhost.evil"):
        assert sites.visit(host + path).status_code == 404
        assert sites.visit(f"{host}/sites").status_code == 404
    key = {"authorization": f"Bearer {sites.front.key}"}
    for other in ("/", "/console", "/v1/publications", "/healthz", "/mcp", "/docs", "/sites"):
        assert sites.path(other, headers=key).status_code == 404
    assert sites.path("//evil/sites/").status_code == 404
    assert sites.path(path, headers={"cookie": "cairn_session=x"}).status_code == 200


def test_a_workspace_is_not_guessed_and_names_lead_into_no_other(
    sites: Publishing, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = sites.publish(report_id=sites.report(), name="same")
    (tmp_path / "other").mkdir()
    other = opened(database, tmp_path / "other", monkeypatch, SITES_URL)
    theirs = other.publish(report_id=other.report("Theirs", "Not mine."), name="same")
    assert mine["url"] != theirs["url"]
    assert "Not mine." in other.visit(theirs["url"]).text
    site = urlsplit(mine["url"]).path.split("/")[2]
    for guess in (str(sites.world.workspace_id), site[:-1], site + "a", site.upper(), "default"):
        assert sites.path(f"/sites/{guess}/same/").status_code == 404
    assert sites.path(f"/sites/{site}/").status_code == 404
    unguessable = sites.publish(report_id=sites.report("B", "b"))
    assert len(unguessable["name"]) == 26
    assert other.front.answer("DELETE", f"/v1/publications/{mine['id']}").status_code == 404
    assert other.listed() == [theirs]
    stolen = other.front.answer("POST", "/v1/publications", json={"report_id": mine["node_id"]})
    assert stolen.status_code == 404
    other.world.pool.close()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"report_id": str(new_id()), "document_id": str(new_id())},
        {"report_id": "x"},
        {"files": []},
        {"files": [{"path": "index.html", "content_base64": "!"}], "title": "x"},
        {"files": [{"path": "../x.html", "content_base64": "eA=="}], "title": "x"},
        {"files": [{"path": "a.js", "content_base64": "eA=="}], "title": "x"},
        {"files": [{"path": "a.png", "content_base64": "PGh0bWw+"}], "title": "x"},
        {"files": [{"path": "a.txt", "content_base64": "eA=="}]},
        {"files": [{"path": "a.txt", "content_base64": "eA=="}] * 2, "title": "x"},
        *(
            {"report_id": str(new_id()), "name": name}
            for name in ("..", "a/b", "a%2e", "A", "ä", "a\u0000", "x" * 65, "")
        ),
        {"report_id": str(new_id()), "title": "\u0000"},
        {"report_id": str(new_id()), "colour": "red"},
    ],
)
def test_what_cannot_be_published_is_refused_and_leaves_nothing(
    sites: Publishing, body: dict[str, Any]
) -> None:
    answer = sites.front.answer("POST", "/v1/publications", json=body)
    assert answer.status_code in (404, 422), answer.text
    assert "title" in body or "node" not in answer.text
    assert sites.bucket.held == {}
    assert sites.listed() == []


def test_a_name_that_is_taken_is_refused_even_to_two_at_once(sites: Publishing) -> None:
    report = sites.report()
    body = {"report_id": report, "name": "one"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda _: sites.front.answer("POST", "/v1/publications", json=body).status_code,
                range(4),
            )
        )
    assert sorted(answers) == [201, 409, 409, 409]
    (listed,) = sites.listed()
    assert sites.visit(listed["url"]).status_code == 200
    assert {key.split("/")[2] for key in sites.bucket.held} == {listed["id"]}
    sites.front.call("DELETE", f"/v1/publications/{listed['id']}")
    assert sites.publish(**body)["url"] == listed["url"]


def test_who_is_killed_while_files_are_stored_leaves_nothing_to_be_read(
    sites: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = sites.report()
    put = Bucket.put

    def dies(bucket: Bucket, key: str, content: bytes) -> None:
        if key.endswith("style.css"):
            raise Unavailable("The object store refused.", reason="object-store")
        put(bucket, key, content)

    monkeypatch.setattr(Bucket, "put", dies)
    body = {"report_id": report, "name": "half"}
    assert sites.front.answer("POST", "/v1/publications", json=body).status_code == 503
    assert len(sites.bucket.held) == 1
    (key,) = sites.bucket.held
    assert sites.listed() == []
    site = sites.front.app.state.services.publications
    assert site.list(sites.world.admin) == []
    monkeypatch.setattr(Bucket, "put", put)
    again = sites.publish(**body)  # the name is free
    assert sites.visit(again["url"]).status_code == 200
    assert key in sites.bucket.held  # it may still be under way
    monkeypatch.setattr(publications, "GIVEN_UP_AFTER", timedelta(0))
    sites.publish(report_id=report)
    assert key not in sites.bucket.held
    assert sites.visit(again["url"]).status_code == 200


def test_forgetting_whom_it_shows_takes_it_off_the_web_and_the_proof_is_clean(
    sites: Publishing,
) -> None:
    report = sites.report("Frank", f"Frank keeps {CANARY}-44.", client_id="frank")
    other = sites.publish(report_id=sites.report())
    published = sites.publish(report_id=report)
    assert CANARY in sites.visit(published["url"]).text
    done = sites.front.call(
        "POST",
        "/v1/forget",
        json={"subject": {"kind": "client", "natural_key": "frank"}, "reason": "request"},
    )
    assert sites.visit(published["url"]).status_code == 404
    assert done["counts"]["publication"] == 1
    assert [each["id"] for each in sites.listed()] == [other["id"]]
    assert not any(published["id"] in key for key in sites.bucket.held)
    proof = sites.front.call("POST", f"/v1/forget/{done['id']}/proof", json={"canaries": [CANARY]})
    assert proof["clean"], [place for place in proof["places"] if place["found"]]


def test_what_is_forgotten_while_it_is_published_never_shows(
    sites: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = sites.report("Gil", f"Gil keeps {CANARY}-45.", client_id="gil")
    put = Bucket.put

    def forgets_first(bucket: Bucket, key: str, content: bytes) -> None:
        monkeypatch.setattr(Bucket, "put", put)
        subject = {"kind": "client", "natural_key": "gil"}
        sites.front.call("POST", "/v1/forget", json={"subject": subject, "reason": "request"})
        put(bucket, key, content)

    monkeypatch.setattr(Bucket, "put", forgets_first)
    answer = sites.front.answer("POST", "/v1/publications", json={"report_id": report})
    assert answer.status_code == 409
    assert sites.listed() == []
    assert not any(key.startswith("sites/") for key in sites.bucket.held)


def ingested(sites: Publishing, text: str) -> str:
    documents = Documents(
        transactions=StoreTransactions(sites.world.pool),
        principal=sites.world.admin,
        keys=FileKeyStore(sites.folder / "keys"),
    )
    documents.ingest(text, source_uri=f"handbook://{new_id()}.md", scope=Scope.ADMIN)
    return sites.front.call("GET", "/v1/documents")["items"][0]["id"]


def test_a_document_is_a_snapshot_with_its_headings_until_it_is_deleted_or_held_back(
    sites: Publishing,
) -> None:
    text = f"# Gates\n\nThe gate opens at six. {HOSTILE}\n\n## Night\n\nIt shuts at ten.\n"
    document = ingested(sites, text)
    published = sites.publish(document_id=document, title="How the gate opens")
    page = sites.visit(published["url"]).text
    assert (
        page.index("How the gate opens") < page.index("opens at six") < page.index("shuts at ten")
    )
    assert "<script" not in page
    assert "Night</h" in page
    sites.front.call("DELETE", f"/v1/documents/{document}")
    assert sites.visit(published["url"]).status_code == 404
    assert [each["is_served"] for each in sites.listed()] == [False]
    gone = sites.front.answer("POST", "/v1/publications", json={"document_id": document})
    assert gone.status_code == 404


def test_what_is_held_back_is_not_shown_until_it_is_let_go(sites: Publishing) -> None:
    report = sites.report()
    published = sites.publish(report_id=report)
    taint = sites.front.call("POST", "/v1/taint", json={"node": report, "reason": "forged"})
    assert sites.visit(published["url"]).status_code == 404
    assert sites.visit(published["url"], "HEAD").status_code == 404
    assert [each["is_served"] for each in sites.listed()] == [False]
    refused = sites.front.answer("POST", "/v1/publications", json={"report_id": report})
    assert refused.status_code == 404
    sites.front.call("POST", f"/v1/taints/{taint['taint_id']}/lift", json={"reason": "it was true"})
    assert sites.visit(published["url"]).status_code == 200


def test_publishing_is_for_people_and_readers_may_not(sites: Publishing) -> None:
    report = sites.report()
    key = sites.front.call("POST", "/v1/keys", json={"name": "bot", "role": "agent"})["secret"]
    agent = {"authorization": f"Bearer {key}"}
    body = {"report_id": report}
    refused = sites.front.answer("POST", "/v1/publications", json=body, headers=agent)
    assert refused.status_code == 403
    app, workspace = sites.front.app, sites.world.workspace_id
    reader = signed_in(app, workspace, f"reads-{new_id()}", PersonRole.READER)
    form = {"what": f"report:{report}", "name": ""}
    assert "Operators, admins and owners publish" in reader.get("/console/publications").text
    assert reader.submit("/console/publications", **form).status_code == 403
    works = signed_in(app, workspace, f"works-{new_id()}", PersonRole.OPERATOR)
    assert "Nothing is published" in works.get("/console/publications").text
    wrong = works.submit("/console/publications", what=f"report:{report}", name="../x")
    assert (wrong.status_code, "small letters" in wrong.text) == (422, True)
    assert works.submit("/console/publications", what="x:y").status_code == 422
    assert works.post("/console/publications", **form).status_code == 401  # without its token
    done = works.submit("/console/publications", **form)
    assert (done.status_code, done.headers["location"]) == (
        303,
        "/console/publications?done=published",
    )
    (listed,) = sites.listed()
    assert listed["url"] in works.get("/console/publications").text
    path = f"/console/publications/{listed['id']}/withdraw"
    assert reader.submit(path).status_code == 403
    assert sites.visit(listed["url"]).status_code == 200
    assert works.submit(path).status_code == 303
    assert sites.visit(listed["url"]).status_code == 404


def test_a_deployment_without_sites_publishes_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = opened(database, tmp_path, monkeypatch, "")
    body = {"report_id": sites.report()}
    refused = sites.front.answer("POST", "/v1/publications", json=body)
    assert (refused.status_code, "CAIRN_SITES_URL" in refused.text) == (409, True)
    nowhere = {"hostname": None, "url": None, "source": None, "reason": "no-sites"}
    assert sites.front.call("GET", "/v1/publications/host") == nowhere
    assert sites.path("/sites/a/b/").status_code == 404
    works = signed_in(sites.front.app, sites.world.workspace_id, f"works-{new_id()}")
    assert "serves no sites" in works.get("/console/publications").text
    sites.world.pool.close()


def test_the_sites_share_no_host_with_the_console(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in fronts.environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAIRN_CONSOLE_URL", "https://cairn.example.org")
    monkeypatch.setenv("CAIRN_SITES_URL", "https://sites.example.org")
    assert ApiSettings.read().sites_url == "https://sites.example.org"
    for wrong in (
        "https://cairn.example.org:8443",
        "https://x.org/sites",
        "sites.x.org",
        "ftp://x",
    ):
        monkeypatch.setenv("CAIRN_SITES_URL", wrong)
        with pytest.raises(ValueError, match="SITES_URL"):
            ApiSettings.read()


def test_publications_are_dated_by_the_clock(sites: Publishing) -> None:
    published = sites.publish(report_id=sites.report())
    assert published["published_at"][:10] == utc_now().isoformat()[:10]
