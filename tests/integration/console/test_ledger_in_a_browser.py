"""The ledger as a person verifies it: a real browser computes the hashes and the signatures."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import NARROW, ROOT, WIDE, go_to, looks_well
from tests.integration.console.test_memories_in_a_browser import HOSTILE, call

from cairn.adapters.postgres.ledger.whole import export_ledger
from cairn.kernel.access import PersonRole
from cairn.kernel.clock import utc_now
from cairn.ledger.anchors import Anchor, new_anchor
from cairn.ledger.signing import ECDSA_P256, ED25519, PublicKey, Signature, key_id_of
from cairn.ledger.verify import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from playwright.sync_api import Page, Route, ViewportSize
    from tests.integration.console.test_in_a_browser import Site

    from cairn.ledger.entry import Head

pytestmark = test_in_a_browser.pytestmark
VERIFIER = ROOT / "scripts" / "verify_ledger.py"


class Signer:
    """A key of either kind in memory."""

    def __init__(self, *, p256: bool = False) -> None:
        self.p256 = ec.generate_private_key(ec.SECP256R1()) if p256 else None
        self.ed25519 = None if p256 else ed25519.Ed25519PrivateKey.generate()

    @property
    def public(self) -> PublicKey:
        key = self.p256 or self.ed25519
        assert key is not None
        return key.public_key()

    def sign(self, content: bytes) -> Signature:
        if self.p256 is not None:
            value = self.p256.sign(content, ec.ECDSA(SHA256()))
        else:
            assert self.ed25519 is not None
            value = self.ed25519.sign(content)
        algorithm = ECDSA_P256 if self.p256 else ED25519
        return Signature(key_id=key_id_of(self.public), algorithm=algorithm, value=value)

    def pem(self) -> bytes:
        return self.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def exported(site: Site) -> list[str]:
    """Return the lines of an export of the site's workspace, with something said in it."""
    for number in range(3):
        call(site, "POST", "/v1/memories", type="event", text=f"Bell {number} rang. {HOSTILE}")
    return list(export_ledger(site.world.owner_url, site.world.workspace_id))


def anchors(site: Site, signer: Signer) -> list[bytes]:
    """Return two anchors, signed: of an earlier entry and of the head."""
    head, entries = site.front.app.state.services.browse.export_ledger(
        site.world.admin, after=0, limit=3
    )
    early: Head = type(head)(workspace_id=head.workspace_id, position=3, hash=entries[2].hash,
                             recorded_at=entries[2].recorded_at)  # fmt: skip
    first = new_anchor(signer, early, None, utc_now())
    last = Anchor(workspace_id=head.workspace_id, number=1, position=3, hash=early.hash,
                  recorded_at=early.recorded_at, verified_at=utc_now(), previous=None,
                  digest=sha256(first).hexdigest())  # fmt: skip
    return [first, new_anchor(signer, head, last, utc_now())]


def file(name: str, content: bytes) -> Any:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def verify(page: Page, lines: Sequence[str], signed: Sequence[bytes] = (), key: bytes = b"") -> str:
    """Let the browser verify an export, and return what the page says of it."""
    page.reload()
    page.get_by_label("Export", exact=True).set_input_files(
        file("export.ndjson", "".join(lines).encode())
    )
    if signed:
        named = [file(f"{number}.json", each) for number, each in enumerate(signed)]
        page.get_by_label("Anchors, if you have them").set_input_files(named)
    if key:
        page.get_by_label("The public key").set_input_files(file("key.pem", key))
    page.get_by_role("button", name="Verify the files", disabled=False).press("Enter")
    page.locator("#outcome p").first.wait_for()
    return page.locator("#outcome").inner_text()


def changed(line: str, **fields: Any) -> str:
    return json.dumps(json.loads(line) | fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def _other_meta(lines: list[str]) -> list[str]:
    meta = json.dumps(json.loads(json.loads(lines[3])["meta"]) | {"zz": "forged"}, sort_keys=True,
                      separators=(",", ":"))  # fmt: skip
    return [*lines[:3], changed(lines[3], meta=meta), *lines[4:]]


def _other_body(lines: list[str]) -> list[str]:
    return [*lines[:4], changed(lines[4], body="AQID"), *lines[5:]]


def _open_meta(lines: list[str]) -> list[str]:
    loose = json.loads(lines[4])["meta"].replace(":", ": ", 1)
    return [*lines[:4], changed(lines[4], meta=loose if loose != "{}" else "{ }"), *lines[5:]]


def _at_two(**fields: Any) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:2], changed(lines[2], **fields), *lines[3:]]


TAMPERED: dict[Fault | str, Callable[[list[str]], list[str]]] = {
    Fault.HASH_MISMATCH: _other_meta,
    Fault.BODY_MISMATCH: _other_body,
    Fault.META_NOT_CANONICAL: _open_meta,
    Fault.GAP: lambda lines: [*lines[:3], *lines[4:]],
    Fault.PREV_MISMATCH: _at_two(prev_hash="0" * 64),
    Fault.FOREIGN_ENTRY: _at_two(workspace_id="00000000-0000-0000-0000-000000000000"),
    Fault.HEAD_MISMATCH: lambda lines: lines[:-1],
    "malformed": lambda lines: [*lines[:2], lines[2].replace('{"', '{"id":"x","', 1), *lines[3:]],
}


def test_an_export_holds_and_a_tampered_one_is_shown_as_such_at_the_entry(
    site: Site, page: Page, tmp_path: Path
) -> None:
    lines = exported(site)
    site.person(page, PersonRole.OWNER)
    page.goto(f"{site.url}/console/ledger/verify")
    good = verify(page, lines)
    assert f"The chain holds: {len(lines) - 1} entries." in good
    assert "Without anchors" in good
    for reason, tamper in TAMPERED.items():
        bad = tamper(list(lines))
        path = tmp_path / "bad.ndjson"
        path.write_text("".join(bad), "utf-8")
        offline = subprocess.run(
            [sys.executable, VERIFIER, path, "--json"], capture_output=True, check=False
        )
        told = json.loads(offline.stdout)
        assert told["reason"] == reason
        said = verify(page, bad)
        assert f"Bad at entry {told['first_bad_position']}: {reason}." in said
        assert f"{told['checked']} entries before it are good." in said
    shown = changed(lines[2], type=HOSTILE)
    assert HOSTILE in verify(page, [*lines[:2], shown, *lines[3:]])
    assert page.evaluate("window.hit") is None
    looks_well(page)
    assert "no export of a ledger" in verify(page, ['{"a":1}\n'])
    assert page.get_by_role("button", name="Verify the files").is_enabled()


@pytest.mark.parametrize("p256", [False, True], ids=["ed25519", "p256"])
def test_signatures_of_anchors_are_checked_by_the_browser(
    site: Site, page: Page, p256: bool
) -> None:
    signer = Signer(p256=p256)
    assert len(exported(site)) > 3
    signed = anchors(site, signer)
    lines = exported(site)
    head = json.loads(lines[0])["head"]["position"]
    site.person(page, PersonRole.ADMIN)
    page.goto(f"{site.url}/console/ledger/verify")
    page.set_viewport_size(NARROW)
    assert "2 anchors are signed by this key." in verify(page, lines, signed, signer.pem())
    assert page.locator("#outcome .wrong").count() == 0
    assert "anchor 1: missing" in verify(page, lines, signed[1:], signer.pem())
    forged = signed[0].replace(b'"position":3', b'"position":2')
    said = verify(page, lines, [forged, signed[1]], signer.pem())
    assert "0.json: not-authentic" in said
    said = verify(page, lines, signed, Signer(p256=p256).pem())
    assert "no anchor is trusted" in said
    assert "This is no public key" in verify(page, lines, signed, b"a key")
    assert "go together" in verify(page, lines, signed)
    cut = json.loads(signed[1])["position"] - 1
    top = changed(lines[0], head={"position": cut, "hash": json.loads(lines[cut])["hash"]})
    said = verify(page, [top, *lines[1 : cut + 1]], signed, signer.pem())
    assert cut < head
    assert f"Bad at entry {cut + 1}: head-mismatch." in said


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_person_walks_the_ledger_and_verifies_the_chain_of_the_server(
    site: Site, page: Page, size: ViewportSize
) -> None:
    exported(site)
    site.person(page, PersonRole.OWNER)
    page.set_viewport_size(size)
    go_to(page, "Ledger")
    page.get_by_label("Type").fill("memory")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**type=memory**")
    entries = page.get_by_role("region", name="Entries")
    entries.get_by_text("memory.remembered").first.wait_for()
    if size is WIDE:
        looks_well(page)
        page.set_viewport_size(size)
    entries.get_by_role("link").first.click()
    page.get_by_role("heading", name="memory.remembered").wait_for()
    if size is WIDE:
        looks_well(page)
    page.reload()
    page.get_by_role("link", name="The one before").click()
    page.go_back()
    page.get_by_role("heading", name="memory.remembered").wait_for()
    for name in ("Forgettings", "Taints"):
        page.get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name).wait_for()
        if size is WIDE:
            looks_well(page)
    page.get_by_role("link", name="Verify", exact=True).click()
    page.get_by_role("button", name="Verify the chain", disabled=False).press("Enter")
    page.get_by_text("The chain holds").wait_for()
    if size is WIDE:
        looks_well(page)

    def tamper(route: Route) -> None:
        lines = route.fetch().text().splitlines(keepends=True)
        lines[3] = changed(lines[3], actor_id="somebody else")
        route.fulfill(body="".join(lines), content_type="application/x-ndjson")

    page.route("**/console/ledger/chain*", tamper)
    page.get_by_role("button", name="Verify the chain").click()
    page.get_by_text("Bad at entry 3: hash-mismatch.").wait_for()
    page.get_by_role("link", name="The entry").click()
    page.get_by_role("heading", name="Entry 3").wait_for()
