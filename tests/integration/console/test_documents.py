"""Documents in the console: narrowed by source, a text taken, and no object store behind it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import boto3
from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE

from benchmarks.objects import InMemoryObjects
from cairn.adapters.aws import objects
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    import pytest
    from tests.integration.storage.test_console import Deployed

deployed = test_memories.deployed
PAGE = "/console/documents"


def keep_in_memory(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> InMemoryObjects:
    """Let what is taken wait in memory; nothing reads it there."""
    held = InMemoryObjects()
    monkeypatch.setattr(deployed.app.state.services, "objects", held, raising=False)
    return held


def test_a_text_is_taken_once_and_found_by_its_source(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = keep_in_memory(deployed, monkeypatch)
    browser = deployed.person(f"types-{new_id()}", PersonRole.OPERATOR)
    form = {"id": str(new_id()), "title": f"House rules {HOSTILE}", "text": "# Rules\n\nNo ball.",
            "client_id": "yard", "scope": "shared"}  # fmt: skip
    first, again = (browser.submit(f"{PAGE}/text", **form) for _ in range(2))
    assert first.status_code == 303, first.text
    assert first.headers["location"] == again.headers["location"]
    page = browser.get(first.headers["location"]).text
    assert "It is here" in page
    assert "&lt;script&gt;" in page
    assert "<b onclick" not in page
    assert b"# Rules\n\nNo ball." in {each.replace(b"\r\n", b"\n") for each in store.held.values()}
    listed = browser.get(f"{PAGE}?source=pasted:{form['id']}").text
    assert listed.count("</tr>") == 2
    assert f"/v1/documents?source_uri=pasted%3A{form['id']}" in listed
    named = {**form, "id": str(new_id()), "source_uri": "rules.md"}
    assert browser.submit(f"{PAGE}/text", **named).status_code == 303
    assert browser.get(f"{PAGE}?source=rules.md&client=yard").text.count("</tr>") == 2
    assert "None from nowhere.md." in browser.get(f"{PAGE}?source=nowhere.md").text
    for field, wrong in (("title", ""), ("text", " "), ("text", "x" * 60_001), ("scope", "moon"),
                         ("client_id", "c" * 300), ("source_uri", "s" * 2_001)):  # fmt: skip
        refused = browser.submit(f"{PAGE}/text", **{**named, field: wrong})
        assert refused.status_code == 422, field
        assert 'role="alert"' in refused.text
        assert field == "text" or "No ball." in refused.text
    whole = {**named, "source_uri": "long.md", "text": "\u6f22" * 60_000}
    assert browser.submit(f"{PAGE}/text", **whole).status_code == 303
    assert browser.submit(f"{PAGE}/text", **{**form, "id": "no-id"}).status_code == 404
    reader = deployed.person(f"reads-{new_id()}", PersonRole.READER)
    assert "Take it</button>" not in reader.get(PAGE).text
    assert reader.submit(f"{PAGE}/text", **form).status_code == 403


def without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the object store be asked without credentials, whatever this process had before."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.session.Session(region_name="eu-central-1").client("s3")
    monkeypatch.setattr(objects, "aws_client", lambda service: client)


def test_without_an_object_store_the_page_says_so_and_a_text_is_kept_in_its_form(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_credentials(monkeypatch)
    browser = deployed.person(f"waits-{new_id()}", PersonRole.OWNER)
    page = browser.get(PAGE)
    assert page.status_code == 200
    assert "it cannot be asked now" in page.text
    assert '<form method="post" action="/console/documents' not in page.text
    form = {"id": str(new_id()), "title": "Rules", "text": "No ball.", "scope": "shared"}
    refused = browser.submit(f"{PAGE}/text", **form)
    assert refused.status_code == 503
    assert "it cannot be asked now" in refused.text
