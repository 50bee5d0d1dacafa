"""Conversations over the real database: found, read with what was drawn, and a session's log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE
from tests.support.embedding import HashingEmbedder

from cairn.adapters.postgres.database import bound
from cairn.enrichment.enrich import Enrich
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed
    from tests.support.front import Front
    from tests.support.world import World

deployed = test_memories.deployed
PAGE, LOG = "/console/conversations", "/console/session-log"
PEANUTS = "I am vegetarian and badly allergic to peanuts."


def say(deployed: Deployed, text: str, **more: Any) -> str:
    body = {"text": text, "channel": "api", "session_id": "s1", "role": "user", **more}
    answer = deployed.front.call("POST", "/v1/conversations/messages", json=body)
    return str(answer["conversation_id"])


def draw(front: Front, world: World) -> None:
    """Let the embed stage work off what was said."""
    enrich = Enrich(platform=front.app.state.services.platform, embedder=HashingEmbedder())
    with bound(world.pool, world.admin) as connection:
        rows = connection.execute("SELECT id FROM outbox WHERE topic = 'embed'").fetchall()
    enrich.rows(world.workspace_id, [row for (row,) in rows])


def test_a_conversation_shows_what_each_message_gave_and_no_text_is_markup(
    deployed: Deployed,
) -> None:
    reader = deployed.person(f"reads-{new_id()}", PersonRole.READER)
    id_ = say(deployed, PEANUTS, sender="Helga", session_id=f"visit {HOSTILE}"[:90])
    say(deployed, HOSTILE, role="assistant", session_id=f"visit {HOSTILE}"[:90])
    draw(deployed.front, deployed.world)
    (memory,) = deployed.front.call("GET", "/v1/memories")["items"]
    page = reader.get(f"{PAGE}/{id_}").text
    assert f'<a href="/console/memories/{memory["id"]}">Helga: I am vegetarian' in page
    assert reader.get(f"/console/memories/{memory['id']}").status_code == 200
    assert "<b onclick" not in page
    assert "&lt;script&gt;" in page
    assert "View logs" not in page
    (first, second) = deployed.front.call("GET", f"/v1/conversations/{id_}")["items"]
    assert [each["id"] for each in first["memories"]] == [memory["id"]]
    assert second["memories"] == []
    assert f'data-copy="{first["id"]}"' in page


def test_the_list_is_narrowed_by_client_agent_person_channel_session_and_days(
    deployed: Deployed,
) -> None:
    reader = deployed.person(f"lists-{new_id()}", PersonRole.READER)
    first = say(deployed, "Hello", sender="Ada", client_id="acme", agents=["front-desk"])
    second = say(deployed, "Hi", sender="Bo", session_id="s2", channel="slack",
                 occurred_at="2026-02-03T10:00:00Z")  # fmt: skip

    def listed(query: str) -> list[str]:
        page = reader.get(f"{PAGE}?{query}")
        assert page.status_code == 200, page.text
        return re.findall(rf'href="{PAGE}/([0-9a-f-]+)">', page.text)

    assert listed("") == [second, first]
    for query in ("client=acme", "agent=front-desk", "sender=Ada", "channel=api", "session=s1"):
        assert listed(query) == [first], query
    assert listed("since=2026-02-03&until=2026-02-04") == [second]
    assert listed("sender=Nobody") == []
    page = reader.get(f"{PAGE}?sender=Bo&since=2026-02-03").text
    assert "cairn conversations list --sender Bo --from 2026-02-03T00:00:00Z" in page
    items = deployed.front.call(
        "GET", "/v1/conversations", params={"sender": "Bo", "opened_from": "2026-02-03T00:00:00Z"}
    )["items"]
    assert [each["id"] for each in items] == [second]
    for query in ("channel=telex", "since=soon"):
        assert reader.get(f"{PAGE}?{query}").status_code == 422
    assert reader.get(f"{PAGE}?after=nowhere").status_code == 200


def test_many_conversations_and_many_messages_come_in_pages(deployed: Deployed) -> None:
    reader = deployed.person(f"pages-{new_id()}", PersonRole.READER)
    for number in range(26):
        say(deployed, f"Hello {number}", session_id=f"s{number}")
    page = reader.get(PAGE).text
    older = re.search(rf'href="({PAGE}\?after=\d+)">Older', page)
    assert older is not None
    assert "s25<" in page
    assert "s0<" in reader.get(older[1]).text
    id_ = ""
    for number in range(51):
        id_ = say(deployed, f"Word {number}.", session_id="long")
    page = reader.get(f"{PAGE}/{id_}").text
    following = re.search(rf'href="({PAGE}/{id_}\?after=\d+)"', page)
    assert following is not None
    assert "Word 50." not in page
    assert "Word 50." in reader.get(following[1]).text


def test_a_question_finds_what_was_said_and_leads_to_it(deployed: Deployed) -> None:
    reader = deployed.person(f"asks-{new_id()}", PersonRole.READER)
    id_ = say(deployed, "The hut on the Rigi opens in May.")
    page = reader.get(f"{PAGE}?q=When+does+the+hut+open").text
    link = re.search(rf'href="({PAGE}/{id_}\?after=\d+)"', page)
    assert link is not None
    assert "The hut on the Rigi" in reader.get(link[1]).text
    assert "Nobody said anything" in reader.get(f"{PAGE}?q=zirconium").text


def test_the_log_of_a_session_is_for_admins_by_stream_and_page(deployed: Deployed) -> None:
    admin = deployed.person(f"logs-{new_id()}", PersonRole.ADMIN)
    id_ = say(deployed, "Hello", session_id="s & 1")
    assert f"{LOG}?session=s+%26+1" in admin.get(f"{PAGE}/{id_}").text
    for number in range(50):
        say(deployed, f"Word {number}.", session_id="s & 1")
    search = {"query": "anything", "session_id": "s & 1"}
    done = deployed.front.call("POST", "/v1/search", json=search)["meta"]["search_id"]
    page = admin.get(f"{LOG}?session=s+%26+1").text
    assert f'href="/console/searches/{done}"' in page
    older = re.search(r'href="(/console/session-log\?[^"]*line=[^"]*)">Older', page)
    assert older is not None
    following = admin.get(older[1].replace("&amp;", "&")).text
    assert following.count('class="plain copy" id=') == 2
    assert "The newest" in following
    assert "Nothing failed" in admin.get(f"{LOG}?session=s+%26+1&stream=errors").text
    assert "No line is kept" in admin.get(f"{LOG}?session=other").text
    assert "Open one by its name" in admin.get(LOG).text
    assert admin.get(f"{LOG}?session=x&stream=every").status_code == 422
    assert admin.get(f"{LOG}?session=x&at=soon&line={new_id()}").status_code == 422
    operator = deployed.person(f"nolog-{new_id()}", PersonRole.OPERATOR)
    for path in (LOG, f"{LOG}?session=s+%26+1"):
        assert operator.get(path).status_code == 403


def test_an_operator_says_whether_memories_are_drawn_and_a_reader_does_not(
    deployed: Deployed,
) -> None:
    id_ = say(deployed, "Hello")
    path = f"{PAGE}/{id_}/infer"
    operator = deployed.person(f"draws-{new_id()}", PersonRole.OPERATOR)
    assert operator.submit(path, infer="no").status_code == 303
    assert "No memories are drawn" in operator.get(f"{PAGE}/{id_}").text
    assert operator.submit(path, infer="maybe").status_code == 422
    assert operator.submit(f"{PAGE}/{new_id()}/infer", infer="no").status_code == 404
    reader = deployed.person(f"only-{new_id()}", PersonRole.READER)
    assert reader.submit(path, infer="yes").status_code == 403
    assert "Draw them" not in reader.get(f"{PAGE}/{id_}").text
    assert reader.get(f"{PAGE}/{new_id()}").status_code == 404
    assert reader.get(f"{PAGE}/no-id").status_code == 404
