"""docs/use/publishing.md walked: the commands as somebody types them, the page in a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import HOSTILE, Site, looks_well
from tests.integration.publishing.test_publications import Publishing, opened
from tests.support.front import Cloud
from tests.support.serving import serving

from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page
    from tests.plugins.postgres import Database

COMMAND = str(Path(sys.executable).with_name("cairn"))
page = test_in_a_browser.page


@dataclass
class Walk:
    """A served API with sites at `sites.localhost`, and a folder to type commands in."""

    site: Site
    publishing: Publishing
    folder: Path

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        base = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
        return subprocess.run(
            [COMMAND, *arguments],
            env={**base, "CAIRN_URL": self.site.url, "CAIRN_API_KEY": self.publishing.world.key},
            cwd=self.folder,
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=90,
            check=False,
        )

    def good(self, *arguments: str, text: str = "") -> Any:
        done = self.run(*arguments, "--json", text=text)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def read(self, url: str) -> httpx.Response:
        """Read an address as a browser does that takes sites.localhost for this machine."""
        address = urlsplit(url)
        return httpx.get(self.site.url + address.path, headers={"host": address.netloc})


@pytest.fixture(scope="module")
def walk(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    folder = tmp_path_factory.mktemp("walk")
    with pytest.MonkeyPatch.context() as patch:
        publishing = opened(database, folder, patch, "http://sites.localhost")
        options = ApiOptions(mcp_hosts=("127.0.0.1:*",), sites_url="http://sites.localhost")
        services = publishing.front.app.state.services
        app = create_app(services, options, log=logger("api", "CRITICAL"))
        with serving(app) as url:
            site = Site(publishing.front, url, publishing.world, Cloud())
            yield Walk(site, publishing, folder)
        publishing.world.pool.close()


@pytest.fixture
def site(walk: Walk) -> Site:
    return walk.site


def test_a_report_a_folder_and_a_list_are_published_at_the_command_line(walk: Walk) -> None:
    report = walk.good("reports", "write", "Tides of March", text="High at noon.")["id"]
    secret = walk.good("publish", "report", report)
    assert len(secret["name"]) == 26
    known = walk.good("publish", "report", report, "--name", "tides-of-march")
    assert known["url"].endswith("/tides-of-march/")
    assert "High at noon." in walk.read(known["url"]).text
    brochure = walk.folder / "brochure"
    (brochure / "img").mkdir(parents=True)
    (brochure / "index.html").write_text('<img src="img/a.png">', encoding="utf-8")
    (brochure / "img" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    made = walk.good("publish", "folder", "brochure", "--title", "Brochure", "--name", "brochure")
    assert walk.read(made["url"] + "img/a.png").headers["content-type"] == "image/png"
    listed = walk.good("publish", "list")["items"]
    assert {each["id"] for each in listed} >= {secret["id"], known["id"], made["id"]}
    assert "tides-of-march" in walk.run("publish", "list").stdout
    assert known["url"] == f"{walk.run('publish', 'host').stdout.strip()}tides-of-march/"
    again = walk.run("publish", "report", report, "--name", "tides-of-march")
    assert (again.returncode, "is taken" in again.stderr) == (1, True)
    for each in (secret, known, made):
        assert walk.good("publish", "withdraw", each["id"]) == {"id": each["id"]}
        assert walk.read(each["url"]).status_code == 404
    missing = walk.run("publish", "withdraw", made["id"])
    assert (missing.returncode, "no such publication" in missing.stderr) == (1, True)


def test_a_folder_with_a_link_out_of_it_or_with_a_script_is_refused(walk: Walk) -> None:
    linked = walk.folder / "linked"
    linked.mkdir()
    (linked / "passwd.txt").symlink_to("/etc/passwd")
    refused = walk.run("publish", "folder", "linked", "--title", "x")
    assert (refused.returncode, "link out of the folder" in refused.stderr) == (1, True)
    scripted = walk.folder / "scripted"
    scripted.mkdir()
    (scripted / "a.js").write_text("alert(1)", encoding="utf-8")
    refused = walk.run("publish", "folder", "scripted", "--title", "x")
    assert (refused.returncode, "ends in none of" in refused.stderr) == (1, True)


@test_in_a_browser.pytestmark
def test_an_operator_publishes_and_withdraws_with_the_keyboard(
    walk: Walk, page: Page, site: Site
) -> None:
    walk.good("reports", "write", f"Tides {HOSTILE}", text=HOSTILE)
    site.person(page, PersonRole.OPERATOR)
    page.get_by_role("link", name="Published").click()
    page.get_by_text("Nothing is published.").wait_for()
    looks_well(page)
    page.get_by_label("Name in its address").fill("tides")
    page.get_by_role("button", name="Publish for everybody").press("Enter")
    page.get_by_text("Everybody who has its address").wait_for()
    looks_well(page)
    url = page.get_by_role("link", name="http://sites.localhost/").inner_text()
    assert walk.read(url).status_code == 200
    page.reload()
    page.get_by_role("button", name="Withdraw").press("Enter")
    page.get_by_text("Nobody reads it any more.").wait_for()
    assert walk.read(url).status_code == 404
    assert page.evaluate("window.hit") is None


@test_in_a_browser.pytestmark
def test_a_browser_sends_the_sites_no_cookie_and_runs_no_script(walk: Walk) -> None:
    from playwright.sync_api import sync_playwright

    report = walk.good("reports", "write", "Cookies", text=HOSTILE)["id"]
    script = b"<!doctype html><title>x</title><p>x<script>document.title='hit'</script>"
    files = walk.publishing.files(**{"index.html": script})
    shown = [
        walk.good("publish", "report", report),
        walk.publishing.publish(files=files, title="scripted"),
    ]
    port = urlsplit(walk.site.url).port
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=test_in_a_browser.CHROMIUM, args=["--no-sandbox"]
        )
        context = browser.new_context()
        page = context.new_page()
        walk.site.person(page, PersonRole.OPERATOR)
        assert context.cookies(walk.site.url)
        for each in shown:
            address = f"http://sites.localhost:{port}{urlsplit(each['url']).path}"
            answer = page.goto(address)
            assert answer is not None
            assert answer.status == 200
            assert "cookie" not in answer.request.all_headers()
            assert page.title() != "hit"
        assert context.cookies(f"http://sites.localhost:{port}") == []
        browser.close()
