"""Addresses of published files: hosts, paths, names. Pure."""

from __future__ import annotations

import pytest

from cairn.kernel.errors import TooLarge, ValidationFailed
from cairn.publishing.addresses import (
    Surface,
    UnsafePath,
    checked_name,
    host_of,
    parse_path,
    site_of,
    surface_of,
    unguessable_name,
)
from cairn.publishing.files import MAX_FILE_BYTES, check_files, media_type

SITES = "https://sites.example.org"
PNG = b"\x89PNG\r\n\x1a\n...."


@pytest.mark.parametrize(
    ("host", "sites_url", "surface"),
    [
        ("sites.example.org", SITES, Surface.SITES),
        ("SITES.example.ORG", SITES, Surface.SITES),
        ("sites.example.org.", SITES, Surface.SITES),
        ("sites.example.org:443", SITES, Surface.SITES),
        ("sites.localhost:8080", "http://sites.localhost:8081", Surface.SITES),
        ("[::1]:8080", "http://[::1]:8081", Surface.SITES),
        ("example.org", SITES, Surface.CONSOLE),
        ("evil-sites.example.org", SITES, Surface.CONSOLE),
        ("sites.example.org.evil", SITES, Surface.CONSOLE),
        ("localhost:8080", "http://sites.localhost:8080", Surface.CONSOLE),
        ("", SITES, Surface.CONSOLE),
        ("", "", Surface.CONSOLE),
        ("sites.example.org", "", Surface.CONSOLE),
    ],
)
def test_the_host_alone_says_whose_a_request_is(
    host: str, sites_url: str, surface: Surface
) -> None:
    assert surface_of(host, sites_url) is surface


def test_ports_and_capitals_are_no_part_of_a_host() -> None:
    assert host_of("Sites.Example.org:8080") == host_of("sites.example.org")
    assert host_of("[2001:DB8::1]:80") == "[2001:db8::1]"


@pytest.mark.parametrize(
    "path",
    [
        "/sites/../secret",
        "/sites/a/b/../../c",
        "/sites/a/b/..",
        "/sites/a/b/.",
        "/sites/a/b/.git/config",
        "/sites/a//b",
        "/sites//",
        "/sites/a/b/c%2f..",
        "/sites/a/b/%2e%2e/c",
        "/sites/a/b/x\x00.html",
        "/sites/a/b/x\\..\\y",
        "/sites/a/b/ä.html",
        "/sites/a/b/\uff0e\uff0e/x",
        "/sites/a/b/" + "x" * 101,
        "/sites/a/b/" + "x/" * 200,
        "/sites/a/b/x\r\nset-cookie: y",
        "/sites/a/b/~root",
    ],
)
def test_a_path_with_a_part_that_is_no_plain_name_is_unsafe(path: str) -> None:
    with pytest.raises(UnsafePath):
        parse_path(path)


def test_a_path_names_a_site_a_publication_and_a_file() -> None:
    address = parse_path("/sites/s/n/a/b.html")
    assert address is not None
    assert (address.site, address.name, address.file, address.is_folder) == (
        "s",
        "n",
        "a/b.html",
        False,
    )
    folder = parse_path("/sites/s/n/")
    assert folder is not None
    assert (folder.file, folder.is_folder) == ("", True)
    assert parse_path("/sites/s") is None
    assert parse_path("/sites/s/") is None


def test_a_site_is_the_same_for_a_key_and_cannot_be_told_from_another() -> None:
    one, other = site_of(b"k" * 32), site_of(b"l" * 32)
    assert one == site_of(b"k" * 32)
    assert one != other
    assert len(one) == len(unguessable_name(bytes(16))) == 26
    assert checked_name(unguessable_name(bytes(range(16))))


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a/b", "a.b", "a%2e", "A", "ä", "a b", "-a", "a-", "a--b", "a\x00", "x" * 65],
)
def test_a_name_that_is_no_plain_word_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed, match="small letters"):
        checked_name(name)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"../x.html": b"x"},
        {"a/../x.html": b"x"},
        {"/x.html": b"x"},
        {"x.html/": b"x"},
        {"x.js": b"alert(1)"},
        {"x.svg": b"<svg/>"},
        {"x.xhtml": b"x"},
        {"x.html.js": b"x"},
        {"x": b"x"},
        {".html": b"x"},
        {"x.png": b"<html><script>alert(1)</script>"},
        {"x.webp": b"RIFF....HTML<script>"},
        {"x.woff2": b"<html>"},
        {"x.html": b"\xff\xfe<\x00"},
        {"x.css": b"a\x00b"},
        {"x.html": b"x", "X.html": b"x"},
        {"a.html": b"x", "a.html/b.html": b"x"},
        {"/".join("abcdefghi") + "/x.html": b"x"},
        {"x%2e.html": b"x"},
        {"ä.html": b"x"},
        {f"{n}.txt": b"x" for n in range(101)},
    ],
)
def test_files_that_are_not_what_may_be_served_are_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(ValidationFailed):
        check_files(files)


def test_a_file_above_the_limit_is_too_large() -> None:
    with pytest.raises(TooLarge):
        check_files({"x.txt": b"x" * (MAX_FILE_BYTES + 1)})


def test_a_page_with_its_images_and_style_is_taken() -> None:
    check_files({"index.html": b"<p>x", "img/a.png": PNG, "style.css": b"p{}"})
    assert media_type("img/a.PNG") == "image/png"
    assert media_type("x.js") is None
