"""A site's pages become documents, by its rules; sites that have no end, or mean harm, are left."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.sourcing import Sourcing, open_sourcing, serving

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.sources.opening import OpenSource
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.errors import CairnError
from cairn.sources.keep import SourceChange
from cairn.sources.reader import Limits
from cairn.sources.source import KnowledgeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from tests.plugins.postgres import Database

    from cairn.sources.reader import Item, Reader

HERE = frozenset({"127.0.0.1"})
HTML = "text/html; charset=utf-8"


def page(*links: str, says: str = "", head: str = "", title: str = "A page") -> str:
    """A page as sites write them: its text in `main`, links around it."""
    around = "".join(f'<a href="{link}">next</a>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body>"
        f"<nav>Everywhere {around}</nav><main><h1>{title}</h1><p>{says}</p></main>"
        "<footer>All rights reserved</footer></body></html>"
    )


@dataclass
class Site:
    """Answers by path: a page, or (status, headers, body); what is asked is written down."""

    pages: dict[str, Any] = field(default_factory=dict[str, Any])
    otherwise: Callable[[str], Any] | None = None
    asked: list[str] = field(default_factory=list[str])
    conditions: list[str] = field(default_factory=list[str])

    def __call__(self, environ: Any, start: Any) -> Iterable[bytes]:
        query = environ.get("QUERY_STRING", "")
        path = environ["PATH_INFO"] + (f"?{query}" if query else "")
        self.asked.append(path)
        answer = self.pages.get(path)
        if answer is None and self.otherwise is not None and not path.startswith(("/rob", "/site")):
            answer = self.otherwise(path)
        status, headers, body = _answer(answer)
        tag = headers.get("ETag")
        if tag and environ.get("HTTP_IF_NONE_MATCH") == tag:
            self.conditions.append(path)
            status, body = "304 Not Modified", b""
        start(status, list(headers.items()))
        return [body]

    def serving(self) -> AbstractContextManager[str]:
        return serving(self)


def _answer(answer: Any) -> tuple[str, dict[str, str], bytes]:
    if answer is None:
        return "404 Not Found", {"Content-Type": HTML}, b"nothing"
    if isinstance(answer, str):
        return "200 OK", {"Content-Type": HTML}, answer.encode()
    status, headers, body = answer
    return status, {"Content-Type": HTML, **headers}, body


def moved(to: str) -> tuple[str, dict[str, str], bytes]:
    return "302 Found", {"Location": to}, b""


OOPS: Any = ("503 Oops", {}, b"")


def site_file(body: bytes) -> Any:
    return "200 OK", {"Content-Type": "text/plain"}, body


@dataclass
class Read:
    """What a whole run listed."""

    items: list[Item]
    pauses: list[float]

    @property
    def pages(self) -> list[str]:
        return [_path(item) for item in self.items if item.load is not None]

    @property
    def refused(self) -> dict[str, str]:
        return {_path(item): item.refused for item in self.items if item.refused}

    def text(self, path: str) -> str:
        load = next(item.load for item in self.items if _path(item) == path)
        assert load is not None
        return load().body.decode()


def _path(item: Item) -> str:
    return "/" + item.key.split("/", 3)[3]


def opened(url: str, pauses: list[float], **config: Any) -> Reader:
    limits = Limits(items=config.pop("items", 100), bytes=10**6, whole=True)
    hosts = config.pop("private", HERE)
    return OpenSource(private_hosts=hosts, pause=pauses.append)(
        KnowledgeKind.SITE, {"url": url, **config}, {}, limits
    )


def read(url: str, marks: dict[str, str] | None = None, **config: Any) -> Read:
    """Read a site to its end, by a new reader for each page, as after a worker that ended."""
    pauses: list[float] = []
    items: list[Item] = []
    before = marks or {}
    cursor = None
    while True:
        reader = opened(url, pauses, **config)
        try:
            got = reader.page(
                cursor, lambda keys: {k: before[k] for k in (keys or before) if k in before}
            )
        finally:
            reader.close()
        items += got.items
        cursor = got.cursor
        if cursor is None:
            return Read(items, pauses)


def marks(done: Read) -> dict[str, str]:
    return {item.key: item.mark for item in done.items if item.mark}


def fault(url: str, **config: Any) -> str:
    with pytest.raises(CairnError) as refused:
        read(url, **config)
    return refused.value.reason


def test_pages_are_found_by_links_and_lists_and_read_without_what_is_around_them() -> None:
    lists = "<urlset><url><loc>/listed</loc></url></urlset>"
    index = "<sitemapindex><sitemap><loc>/more.xml.gz</loc></sitemap></sitemapindex>"
    packed = gzip.compress(b"<urlset><url><loc>/packed</loc></url></urlset>")
    site = Site(
        {
            "/": page("/dns#top", "/pager?utm_source=x", "mailto:a@b", "https://elsewhere.test/"),
            "/dns": page("/", says="Ask Ada about DNS."),
            "/pager": page(says="The pager goes round."),
            "/listed": page(says="Only a list names this."),
            "/packed": page(says="A packed list names this."),
            "/robots.txt": ("200 OK", {"Content-Type": "text/plain"}, b"Sitemap: /index.xml"),
            "/sitemap.xml": ("200 OK", {"Content-Type": "text/xml"}, lists.encode()),
            "/index.xml": ("200 OK", {"Content-Type": "text/xml"}, index.encode()),
            "/more.xml.gz": ("200 OK", {"Content-Type": "application/gzip"}, packed),
        }
    )
    with site.serving() as url:
        done = read(url)
    assert sorted(done.pages) == ["/", "/dns", "/listed", "/packed", "/pager"]
    assert "Ask Ada" in done.text("/dns")
    assert "Everywhere" not in done.text("/dns")
    assert "All rights" not in done.text("/dns")
    assert Counter(site.asked).most_common(1)[0][1] == 1


def test_a_host_is_asked_one_thing_at_a_time_and_as_slowly_as_it_wants() -> None:
    robots = b"User-agent: *\nCrawl-delay: 7\nDisallow: /private\nAllow: /"
    site = Site(
        {
            "/robots.txt": ("200 OK", {"Content-Type": "text/plain"}, robots),
            "/": page("/a", "/private/b"),
            "/a": page(says="Allowed."),
            "/private/b": page(says="Not for programs."),
        }
    )
    with site.serving() as url:
        done = read(url)
    assert done.refused == {"/private/b": "robots"}
    assert not any("private" in path for path in site.asked)
    assert len(done.pauses) == len(site.asked) - 1
    assert min(done.pauses[1:]) > 6


@pytest.mark.parametrize(
    ("robots", "why"),
    [
        (site_file(b"User-agent: *\nDisallow: /"), "robots"),
        (OOPS, "robots"),
        (site_file(b"User-agent: *\nCrawl-delay: 3600"), "crawl-delay"),
    ],
)
def test_a_site_that_keeps_programs_out_is_left_with_its_reason(robots: Any, why: str) -> None:
    with Site({"/": page(says="Here."), "/robots.txt": robots}).serving() as url:
        assert fault(url) == why


def test_only_what_is_below_the_start_is_read_or_what_is_chosen() -> None:
    site = Site(otherwise=lambda path: page("/guide/a", "/blog/b", "/guide/old/c", says=path))
    with site.serving() as url:
        assert sorted(read(f"{url}/guide/").pages) == ["/guide/", "/guide/a", "/guide/old/c"]
        chosen = read(f"{url}/", include=["blog/", "/guide/"], exclude=["old/"])
        assert sorted(chosen.pages) == ["/", "/blog/b", "/guide/a"]


def test_redirects_are_followed_within_the_site_only_and_never_round() -> None:
    site = Site(
        {
            "/": page("/old", "/round", "/out", "/inside"),
            "/old": moved("/new"),
            "/new": page(says="New."),
            "/round": moved("/round-2"),
            "/round-2": moved("/round"),
            "/out": moved("https://elsewhere.test/x"),
            "/inside": moved("http://169.254.169.254/latest/meta-data"),
        }
    )
    with site.serving() as url:
        done = read(url)
    assert done.pages == ["/", "/new"]
    assert done.refused == {
        "/round-2": "fetch-redirects",
        "/out": "moved",
        "/inside": "moved",
    }


NOWHERE: list[tuple[Any, str]] = [
    (moved("/"), "fetch-redirects"),
    (moved("https://elsewhere.test/"), "moved"),
    (("404 Not Found", {}, b""), "not-there"),
    (("403 Forbidden", {}, b""), "not-permitted"),
    (("500 Oops", {}, b""), "unreachable"),
    (("200 OK", {"Content-Encoding": "gzip"}, gzip.compress(b"<p>packed")), "content-encoding"),
]


@pytest.mark.parametrize(("answer", "why"), NOWHERE)
def test_a_start_that_leads_nowhere_is_an_error_of_the_source(answer: Any, why: str) -> None:
    with Site({"/": answer}).serving() as url:
        assert fault(url) == why


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/x", "http://[::1]/", "http://10.0.0.1/", "https://example.org:8443/"]
)
def test_a_site_inside_this_network_or_on_an_odd_port_is_refused(url: str) -> None:
    assert fault(url, private=frozenset()) == "http-address"


def test_a_host_of_the_site_that_lies_inside_this_network_is_refused_page_by_page() -> None:
    site = Site({"/": page("http://localhost/x", says="Start.")})
    with site.serving() as url:
        done = read(url, hosts=["localhost"])
    assert done.refused == {"/x": "http-address"}


def test_a_calendar_ends_at_the_depth_and_does_not_creep_on_with_each_run() -> None:
    def calendar(path: str) -> str:
        day = int(path.rsplit("/", 1)[1]) if path.startswith("/day/") else 0
        return page(f"/day/{day + 1}", says=f"Day {day}.")

    site = Site(otherwise=calendar)
    with site.serving() as url:
        first = read(url, depth=4)
        again = read(url, marks(first), depth=4)
    assert first.pages == ["/", "/day/1", "/day/2", "/day/3", "/day/4"]
    assert first.refused == again.refused == {"/day/5": "too-deep"}
    assert (again.pages, "/day/6" in site.asked) == ([], False)


def test_query_strings_without_end_and_paths_that_lead_round_are_left() -> None:
    def spaces(path: str) -> str:
        number = int(path.partition("n=")[2] or 0)
        links = [f"/list?n={number * 20 + each}" for each in range(1, 21)]
        return page(*links, f"{path.partition('?')[0]}/round/", says=path)

    with Site(otherwise=spaces).serving() as url:
        done = read(url, items=1_000, depth=50)
    assert {"too-many-queries", "repeating-path"} == set(done.refused.values())
    assert sum("?" in path for path in done.pages) == 50


def test_a_site_without_an_end_is_left_at_its_budget() -> None:
    def endless(path: str) -> str:
        number = int(path[1:] or 0)
        return page(*(f"/{number * 10 + each}" for each in range(1, 11)), says=path)

    with Site(otherwise=endless).serving() as url:
        assert fault(url, items=20, depth=50) == "budget-requests"


def test_a_page_is_read_by_the_name_it_wants_unless_nothing_is_there() -> None:
    def named(name: str) -> str:
        return f'<link rel="canonical" href="{name}">'

    site = Site(
        {
            "/": page("/print", "/a", "/lost", "/slash/", "/all"),
            "/print": page(says="One text.", head=named("/text")),
            "/text": page(says="One text.", head=named("/text")),
            "/a": page(says="A.", head=named("/b")),
            "/b": page(says="B.", head=named("/a")),
            "/lost": page(says="Lost.", head=named("/nowhere")),
            "/slash/": page(says="Slash.", head=named("/slash")),
            "/slash": moved("/slash/"),
            "/all": page(says="All.", head=named("https://elsewhere.test/")),
        }
    )
    with site.serving() as url:
        done = read(url)
    assert sorted(done.pages) == ["/", "/all", "/b", "/lost", "/slash/", "/text"]


def test_orders_to_robots_and_pages_that_say_the_same_are_heeded() -> None:
    order = '<meta name="robots" content="noindex, nofollow">'
    site = Site(
        {
            "/": page("/hidden", "/told", "/one", "/two"),
            "/hidden": page("/behind", says="Hidden.", head=order),
            "/told": ("200 OK", {"X-Robots-Tag": "noindex"}, page(says="Told.").encode()),
            "/one": page(says="The same."),
            "/two": page(says="The same."),
            "/behind": page(says="Behind."),
        }
    )
    with site.serving() as url:
        done = read(url)
    assert done.pages == ["/", "/one"]
    assert done.refused == {"/hidden": "noindex", "/told": "noindex", "/two": "duplicate"}


def test_types_sizes_charsets_and_markup_that_mean_harm_are_taken_one_by_one() -> None:
    huge = b"<p>" + b"a" * 5_000_001
    latin = "<html><head><title>M\xfcll</title></head><main>Stra\xdfe</main>".encode("latin-1")
    bomb = gzip.compress(b"<urlset>" + b" " * 30_000_000 + b"<url><loc>/bombed</loc></url>")
    entity = b'<!DOCTYPE x [<!ENTITY a "/entity">]><urlset><url><loc>&a;</loc></url></urlset>'
    site = Site(
        {
            "/": page(*"/huge /latin /nested /plain.txt /picture /pdf /wrong /script".split()),  # noqa: SIM905
            "/huge": ("200 OK", {}, huge),
            "/latin": ("200 OK", {"Content-Type": "text/html; charset=iso-8859-1"}, latin),
            "/wrong": ("200 OK", {"Content-Type": "text/html; charset=no-such"}, b"<p>Wrong name."),
            "/nested": ("200 OK", {}, b"<div>" * 5_000 + b"deep"),
            "/plain.txt": ("200 OK", {"Content-Type": "text/plain"}, b"Plain words."),
            "/picture": ("200 OK", {"Content-Type": "image/png"}, b"\x89PNG"),
            "/pdf": ("200 OK", {"Content-Type": "application/pdf"}, b"%PDF-1.7 and so on"),
            "/script": page(says="<script>alert(1)</script>Seen <a href='http://[bad'>x</a>"),
            "/robots.txt": ("200 OK", {}, b"Sitemap: /bomb.xml.gz\nSitemap: /entity.xml"),
            "/bomb.xml.gz": ("200 OK", {}, bomb),
            "/entity.xml": ("200 OK", {}, entity),
        }
    )
    with site.serving() as url:
        done = read(url)
    assert sorted(done.pages) == ["/", "/latin", "/pdf", "/plain.txt", "/script", "/wrong"]
    assert done.refused == {"/huge": "too-large", "/nested": "malformed-document"}
    assert "Straße" in done.text("/latin")
    assert "/bombed" not in site.asked


def test_a_host_that_falls_silent_ends_the_run_and_one_silent_page_does_not() -> None:
    one = Site({"/": page("/a", "/b"), "/a": OOPS, "/b": page(says="Here.")})
    with one.serving() as url:
        assert read(url).refused == {"/a": "unreachable"}
    all_of_it = Site({"/": page(*(f"/{each}" for each in range(9)))}, otherwise=lambda _: OOPS)
    with all_of_it.serving() as url:
        assert fault(url) == "unreachable"


# Over PostgreSQL


@pytest.fixture
def pool(database: Database) -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def desk(database: Database, pool: Pool) -> Sourcing:
    return open_sourcing(database, pool)


def tagged(text: str, tag: str) -> tuple[str, dict[str, str], bytes]:
    return "200 OK", {"ETag": tag}, text.encode()


def test_pages_become_documents_and_follow_what_changes_and_goes(desk: Sourcing) -> None:
    site = Site(
        {
            "/": tagged(page("/dns", "/pager", title="Start"), '"1"'),
            "/dns": tagged(page(says="Ask Ada.", title="DNS"), '"1"'),
            "/pager": page(says="It goes round.", title="Pager"),
        }
    )
    with site.serving() as url:
        source = desk.work(desk.add("site", config={"url": url}))
        desk.read()
        assert (source.error, source.documents) == (None, 3)
        before = desk.documents()
        assert f"source://runbooks/{url}/dns" in before

        same = desk.sync(source)
        assert same.last_sync is not None
        assert (same.last_sync.unchanged, same.last_sync.changed) == (3, 0)
        assert sorted(site.conditions) == ["/", "/dns"]

        site.pages["/dns"] = tagged(page("/new", says="Ask Grace.", title="DNS"), '"2"')
        site.pages["/new"] = page(says="New.", title="New")
        del site.pages["/pager"]
        foreseen = desk.preview(source)
        assert foreseen.last_preview is not None
        assert [(each["what"], each["key"]) for each in foreseen.last_preview.changes] == [
            ("changed", f"{url}/dns"),
            ("new", f"{url}/new"),
            ("gone", f"{url}/pager"),
        ]
        done = desk.sync(source)
        desk.read()
    assert done.last_sync is not None
    report = done.last_sync
    assert (report.new, report.changed, report.gone, report.unchanged) == (1, 1, 1, 1)
    after = desk.documents()
    assert after.keys() == {f"source://runbooks/{url}{path}" for path in ("/", "/dns", "/new")}
    assert after[f"source://runbooks/{url}/dns"] == before[f"source://runbooks/{url}/dns"]


def test_a_page_that_does_not_answer_stays_and_one_that_is_gone_goes(desk: Sourcing) -> None:
    site = Site({"/": page("/a", "/b"), "/a": page(says="A."), "/b": page(says="B.")})
    with site.serving() as url:
        source = desk.work(desk.add("site", config={"url": url}))
        desk.read()
        site.pages["/a"], site.pages["/b"] = ("503 Oops", {}, b""), ("410 Gone", {}, b"")
        done = desk.sync(source)
        desk.read()
    assert desk.documents().keys() == {f"source://runbooks/{url}{path}" for path in ("/", "/a")}
    assert (done.error, done.documents) == (None, 2)


def test_a_run_that_ends_before_the_site_goes_on_where_it_was(desk: Sourcing) -> None:
    site = Site(otherwise=lambda path: page("/a", "/b", "/c", says=path))
    with site.serving() as url:
        source = desk.add("site", config={"url": url})
        at_once = desk.worker()(desk.stand.workspace_id, source.id, seconds=-1.0)
        while at_once == "more":
            desk.read()
            at_once = desk.worker()(desk.stand.workspace_id, source.id, seconds=5.0)
        assert desk.get(source).documents == 4


def test_what_a_site_above_its_quota_left_unread_is_read_when_there_is_room(
    desk: Sourcing,
) -> None:
    def chain(path: str) -> Any:
        number = int(path[1:] or 0)
        return tagged(page(f"/{number + 1}", says=path) if number < 6 else page(says=path), '"1"')

    with Site(otherwise=chain).serving() as url:
        source = desk.work(desk.add("site", config={"url": url}, max_items=3))
        assert (source.error, source.documents) == ("quota-items", 3)
        desk.sources.change(desk.stand.principal, source.id, SourceChange(max_items=100))
        desk.read()
        assert desk.sync(source).documents == 7


def test_a_site_is_forgotten_whole_and_a_page_of_it_does_not_come_back(desk: Sourcing) -> None:
    stand = desk.stand
    site = Site({"/": page("/ada", says="Start."), "/ada": page(says="Ada keeps the keys.")})
    with site.serving() as url:
        source = desk.work(desk.add("site", config={"url": url}))
        desk.read()
        target = Target(source=f"source://runbooks/{url}/ada")
        stand.forget(stand.principal, target, Reason.REQUEST)
        again = desk.sync(source)
        desk.read()
        assert again.last_sync is not None
        assert (again.last_sync.refused, desk.documents().keys()) == (
            1,
            {f"source://runbooks/{url}/"},
        )
    forgotten = stand.forget(stand.principal, Target(source="source://runbooks"), Reason.REQUEST)
    proof = stand.proof(forgotten, url)
    assert proof.clean, [place for place in proof.places if place.found]
    assert desk.documents() == {}
