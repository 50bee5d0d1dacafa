import io
import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from tests.unit.api.fakes import NOW, World, memory
from tests.unit.cli.fakes import FakeQueues, FakeStack, Shell, verification

from cairn.accounts.agents import Agent
from cairn.cli.memories import snippet
from cairn.operations.sweep import Backlog

COMMANDS = [
    "up",
    "down",
    "status",
    "logs",
    "reset",
    "demo",
    "remember",
    "recall",
    "ingest",
    "trace",
    "bench",
    "ledger",
    "doctor",
    "keys",
    "claim",
    "workspace",
    "redrive",
    "reindex",
    "conversations",
    "reports",
    "subscriptions",
    "nodes",
    "entities",
]
BROKEN, SOUND = UUID(int=21), UUID(int=22)
OWNER = {"database_url": "postgresql://owner@/cairn"}


def test_help_lists_every_command() -> None:
    shown = Shell().run("--help")
    assert shown.exit_code == 0
    for command in COMMANDS:
        assert f" {command} " in shown.stdout


@pytest.mark.parametrize(
    "command",
    [
        *(
            [
                "up",
                "down",
                "status",
                "logs",
                "reset",
                "demo",
                "remember",
                "recall",
                "ingest",
                "trace",
                "doctor",
                "claim",
            ]
        ),
        "redrive",
        "reindex",
        "ledger verify",
        "ledger export",
        "ledger anchor",
        "taint",
        "taints list",
        "taints show",
        "taints lift",
        "ledger list",
        "keys list",
        "keys create",
        "keys revoke",
        "keys whoami",
        "workspace create",
        "workspace redaction",
        "search-index status",
        "search-index check",
        "search-index repair",
        "search-index reindex",
        "conversations list",
        "conversations show",
        "conversations search",
        "conversations say",
        "conversations bind",
        "reports write",
        "reports latest",
        "reports list",
        "subscriptions list",
        "subscriptions set",
        "subscriptions clear",
        "nodes add",
        "nodes show",
        "nodes list",
        "entities list",
        "entities show",
        "entities alias",
        "entities merge",
        "entities split",
    ],
)
def test_every_command_can_answer_in_json(command: str) -> None:
    shown = Shell().run(*command.split(), "--help")
    assert (shown.exit_code, "--json" in shown.stdout) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["recall"], ["recall", "x", "--limit", "0"], ["remember"], ["trace", "what"]],
)
def test_a_usage_error_is_exit_status_2(arguments: list[str]) -> None:
    assert Shell().run(*arguments).exit_code == 2


def test_a_problem_is_one_line_with_what_to_do_and_exit_status_1() -> None:
    shown = Shell(settings={"api_key": "cairn_gone.revoked"}).run("recall", "what?")
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert shown.stderr.splitlines() == [
        "error: This API key is unknown or revoked. — check CAIRN_API_KEY, or source "
        ".local/cairn.env"
    ]


def test_a_missing_environment_says_how_to_get_one() -> None:
    shown = Shell(settings={"url": None}).run("recall", "what?")
    assert shown.exit_code == 1
    assert "make run" in shown.stderr


def test_an_api_out_of_reach_says_how_to_start_it() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    shown = Shell(transport=httpx.MockTransport(refuse)).run("recall", "what?")
    assert (shown.exit_code, "cairn up" in shown.stderr) == (1, True)


def test_an_answer_that_is_no_problem_is_still_one_line() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(502, text="<html>bad gateway</html>"))
    shown = Shell(transport=transport).run("recall", "what?")
    assert shown.stderr.splitlines() == ["error: http://cairn answered with status 502."]


def test_a_busy_api_is_asked_again_after_the_time_it_names() -> None:
    answers = [
        httpx.Response(503, headers={"retry-after": "7"}),
        httpx.Response(429, headers={"retry-after": "9999"}),
        httpx.Response(200, json={"results": [], "meta": {}}),
    ]
    shell = Shell(transport=httpx.MockTransport(lambda _: answers.pop(0)))
    assert shell.run("recall", "what?").exit_code == 0
    assert shell.slept == [7.0, 30.0]


def test_an_api_that_stays_busy_is_given_up() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(503, headers={"retry-after": "1"}))
    shell = Shell(transport=transport)
    assert shell.run("recall", "what?").exit_code == 1
    assert len(shell.slept) == 3


def test_remember_sends_what_was_given_and_nothing_else() -> None:
    world = World()
    shown = Shell(world=world).run("remember", "Acme uses Next.js", "--key", "stack", "--json")
    assert json.loads(shown.stdout)["outcome"] == "created"
    (written,) = world.written
    assert (written.text, written.key, written.client_id) == (
        "Acme uses Next.js",
        "stack",
        "global",
    )


def test_remember_reads_standard_input() -> None:
    world = World()
    Shell(world=world).run("remember", "-", "--type", "event", stdin="it happened")
    assert world.written[0].text == "it happened"


def test_remember_sends_a_file_in_batches_and_names_the_bad_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"line {number}", "type": "event"}) for number in range(501)]
    lines[500] = json.dumps({"text": "", "type": "event"})
    file = tmp_path / "memories.jsonl"
    file.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    world = World()
    shown = Shell(world=world).run("remember", "--file", str(file))
    assert shown.exit_code == 1
    assert len(world.written) == 500
    assert "line 501:" in shown.stderr


@pytest.mark.parametrize("line", ["not json", "[1]"])
def test_a_line_that_is_no_memory_is_named_and_nothing_is_sent(line: str, tmp_path: Path) -> None:
    file = tmp_path / "memories.jsonl"
    file.write_text('{"text": "fine", "type": "fact"}\n' + line + "\n", encoding="utf-8")
    world = World()
    shown = Shell(world=world).run("remember", "--file", str(file))
    assert (shown.exit_code, "Line 2" in shown.stderr, world.written) == (1, True, [])


def test_recall_shows_score_text_source_and_position() -> None:
    result = {
        "type": "Chunk",
        "text": "The pager goes\nround [every] Monday.",
        "attributes": {"source_uri": "file:///x/handbook.pdf", "page_from": 3},
        "provenance": {"position": 17, "occurred_at": "2026-03-15T10:00:00Z"},
        "scores": {"relevance_score": 0.8123},
    }
    shown = Shell(world=World(results=(result,))).run("recall", "pager?")
    assert "0.812" in shown.stdout
    assert "The pager goes round [every] Monday." in shown.stdout
    assert "Chunk · handbook.pdf p. 3 · 2026-03-15" in shown.stdout
    assert "17" in shown.stdout


def test_recall_passes_its_filters() -> None:
    world = World()
    Shell(world=world).run(
        "recall", "x", "--kind", "fact", "--client", "acme", "--as-of", "12", "--superseded"
    )
    (asked,) = world.searches
    assert (asked.kinds, asked.client_id, asked.as_of, asked.include_superseded) == (
        ("fact",),
        "acme",
        12,
        True,
    )


def test_ledger_verify_goes_over_all_workspaces_and_names_the_broken_position() -> None:
    shell = Shell(settings=OWNER)
    shell.operator.chains = {SOUND: verification(SOUND), BROKEN: verification(BROKEN, bad=4)}
    shown = shell.run("ledger", "verify", "--json")
    assert shown.exit_code == 1
    body = json.loads(shown.stdout)
    assert body["ok"] is False
    assert [(each["ok"], each["first_bad_position"]) for each in body["workspaces"]] == [
        (True, None),
        (False, 4),
    ]
    told = shell.run("ledger", "verify")
    assert "broken at 4: hash-mismatch" in told.stdout


def test_ledger_verify_with_anchors_asks_the_api_and_tells_each_fault() -> None:
    shell = Shell(settings=OWNER)
    shown = shell.run("ledger", "verify", "--anchors", "--json")
    assert shown.exit_code == 1
    [found] = json.loads(shown.stdout)["workspaces"]
    assert found["anchors"]["trusted"] == 2
    told = shell.run("ledger", "verify", "--anchors")
    assert (told.exit_code, "missing: number 2" in told.stdout) == (1, True)
    other = shell.run("ledger", "verify", "--anchors", "--workspace", str(BROKEN))
    assert (other.exit_code, "another workspace" in other.stderr) == (1, True)


class AuditFunction:
    """A Lambda client whose one function answers so."""

    def __init__(self, told: dict[str, Any], error: str | None = None) -> None:
        self.told, self.error, self.invoked = told, error, list[dict[str, Any]]()

    def invoke(self, **given: Any) -> dict[str, Any]:
        self.invoked.append(given)
        answer = {"Payload": io.BytesIO(json.dumps(self.told).encode())}
        return answer | ({"FunctionError": self.error} if self.error else {})


def test_ledger_anchor_runs_the_audit_functions_step() -> None:
    told = {"verified": 3, "anchored": 2, "waiting": 1}
    audit = AuditFunction(told)
    shell = Shell(aws={"lambda": audit})
    shown = shell.run("ledger", "anchor", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)) == (0, told)
    assert audit.invoked == [
        {"FunctionName": "cairn-local-audit", "Payload": '{"step": "verify_and_anchor"}'}
    ]


def test_ledger_anchor_fails_when_a_chain_does_not_hold() -> None:
    told = {"errorMessage": "ledger-broken: A chain does not hold."}
    shown = Shell(aws={"lambda": AuditFunction(told, "Unhandled")}).run("ledger", "anchor")
    assert (shown.exit_code, "A chain does not hold" in shown.stderr) == (1, True)


def test_ledger_verify_of_one_sound_workspace_is_exit_status_0() -> None:
    shell = Shell(settings=OWNER)
    shell.operator.chains = {SOUND: verification(SOUND), BROKEN: verification(BROKEN, bad=4)}
    assert shell.run("ledger", "verify", "--workspace", str(SOUND)).exit_code == 0


def test_ledger_verify_without_the_owners_url_asks_the_api_about_the_keys_own() -> None:
    shell = Shell()
    shown = shell.run("ledger", "verify", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)["workspaces"][0]["first_bad_position"]) == (
        1,
        7,
    )
    other = shell.run("ledger", "verify", "--workspace", str(BROKEN))
    assert (other.exit_code, "another workspace" in other.stderr) == (1, True)


def test_ledger_export_writes_lines_to_a_file_or_to_standard_output(tmp_path: Path) -> None:
    shell = Shell(settings=OWNER)
    file = tmp_path / "chain.jsonl"
    shown = shell.run("ledger", "export", "-o", str(file), "--json")
    assert json.loads(shown.stdout)["entries"] == 1
    assert file.read_text(encoding="utf-8").splitlines()[1] == '{"position": 1}'
    piped = shell.run("ledger", "export")
    assert piped.stdout.splitlines() == ['{"format": "cairn-ledger-1"}', '{"position": 1}']
    assert Shell().run("ledger", "export").exit_code == 1


def test_a_new_keys_secret_is_printed_once_and_alone_on_its_line() -> None:
    shown = Shell().run("keys", "create", "scout")
    assert shown.stdout.splitlines()[-1] == "cairn_abc.shown-once"
    assert "shown-once" not in Shell().run("keys", "list").stdout


def test_a_key_is_made_for_the_tools_that_are_named() -> None:
    shown = Shell().run("keys", "create", "scout", "--tool", "get", "--tool", "recall", "--json")
    assert json.loads(shown.stdout)["key"]["tools"] == ["get", "recall"]


def test_a_key_is_revoked_by_id() -> None:
    shown = Shell().run("keys", "revoke", str(UUID(int=7)), "--json")
    assert json.loads(shown.stdout)["revoked_at"]


def test_a_deployment_is_claimed_without_a_key() -> None:
    shell = Shell(settings={"api_key": None})
    assert shell.run("claim", "right").stdout.splitlines()[-1] == "cairn_abc.shown-once"
    assert shell.run("claim", "wrong").exit_code == 1


def test_a_workspace_is_made_by_the_owner_only() -> None:
    shell = Shell(settings=OWNER)
    shown = shell.run("workspace", "create", "acme")
    assert (shell.operator.made, shown.stdout.splitlines()[-1]) == (["acme"], "cairn_new.secret")
    assert Shell().run("workspace", "create", "acme").exit_code == 1


def test_redrive_sends_every_message_again_before_deleting_it() -> None:
    dead = [{"Body": str(number), "ReceiptHandle": f"r{number}"} for number in range(23)]
    queues = FakeQueues(dead=list(dead))
    shell = Shell(aws={"sqs": queues}, settings={"embed_queue_url": "http://aws/embed"})
    shown = shell.run("redrive", "--json")
    assert json.loads(shown.stdout)["redriven"] == 23
    assert [each["MessageBody"] for each in queues.sent] == [each["Body"] for each in dead]
    assert queues.dead == []


def test_redrive_stops_at_its_limit_and_refuses_a_queue_without_dead_letters() -> None:
    queues = FakeQueues(dead=[{"Body": "x", "ReceiptHandle": f"r{n}"} for n in range(5)])
    shell = Shell(aws={"sqs": queues}, settings={"embed_queue_url": "http://aws/embed"})
    assert json.loads(shell.run("redrive", "--limit", "2", "--json").stdout)["redriven"] == 2
    assert len(queues.dead) == 3
    queues.policy = None
    assert shell.run("redrive").exit_code == 1


def test_status_shows_the_services_and_what_waits_and_fails_when_one_is_down() -> None:
    shown = Shell().run("status")
    assert (shown.exit_code, "3 wait for their embedding" in shown.stdout) == (0, True)
    assert Shell(stack=FakeStack(running=False)).run("status", "--json").exit_code == 1


def test_up_down_and_reset_call_the_launcher_and_reset_asks_first() -> None:
    shell = Shell()
    assert shell.run("up").exit_code == 0
    assert json.loads(shell.run("down", "--json").stdout)["stopped"] == ["api", "aws", "postgres"]
    assert shell.run("reset", stdin="n\n").exit_code == 1
    assert shell.stack.calls == ["up", "down"]
    assert shell.run("reset", "--yes").exit_code == 0
    assert shell.stack.calls[-1] == "reset"


def test_a_stack_that_does_not_start_is_one_line() -> None:
    shown = Shell(stack=FakeStack(failure="port 8700 is taken")).run("up")
    assert (shown.exit_code, shown.stderr.splitlines()) == (
        1,
        ["error: port 8700 is taken — see the logs: cairn logs"],
    )


def test_logs_of_an_unknown_service_are_a_usage_error() -> None:
    assert Shell().run("logs", "api").stdout == "api | one line\n"
    assert Shell().run("logs", "redis").exit_code == 2


def test_the_log_of_a_session_is_asked_of_the_api_and_printed_as_a_table() -> None:
    line = {
        "at": "2026-11-23T20:00:00.000000Z",
        "source": "tool",
        "subject_id": "01a20a07-c116-71e0-b07c-b982c6b36d37",
        "name": "desk.[find]",
        "state": "failed",
        "error": "connector-degraded",
        "duration_ms": 12.4,
    }
    sent: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url)
        return httpx.Response(200, json={"items": [line], "next_cursor": None})

    shell = Shell(transport=httpx.MockTransport(answer))
    shown = shell.run("logs", "--session", "desk 7", "--stream", "errors")
    assert shown.exit_code == 0, shown.stderr
    assert sent[0].path == "/v1/logs"
    assert {"session_id": "desk 7", "stream": "errors"}.items() <= dict(sent[0].params).items()
    for word in (line["subject_id"], "desk.[find]", "connector-degraded", "12"):
        assert str(word) in shown.stdout
    asked = shell.run("logs", "--session", "desk 7", "--json")
    assert json.loads(asked.stdout) == [line]


def test_doctor_names_each_part_and_what_to_do_about_the_bad_ones() -> None:
    shell = Shell(settings={"model_dir": Path("/nowhere"), **OWNER})
    shell.operator.chains = {SOUND: verification(SOUND)}
    shown = shell.run("doctor", "--json")
    checks = {each["name"]: each for each in json.loads(shown.stdout)["checks"]}
    assert shown.exit_code == 1
    assert [name for name, each in checks.items() if not each["ok"]] == ["model", "embedding"]
    assert "make run" in checks["model"]["advice"]
    assert "redrive" in checks["embedding"]["advice"]


def test_doctor_says_whether_what_lists_of_tools_name_exists() -> None:
    def looked(*tools: str, disabled: str | None = None) -> dict[str, Any]:
        agent = Agent(
            slug="scout",
            id=SOUND,
            name="Scout",
            tools=tools,
            disabled=disabled,
            registered_at=NOW,
            changed_at=NOW,
        )
        shown = Shell(world=World(registered=[agent])).run("doctor", "--json")
        return {each["name"]: each for each in json.loads(shown.stdout)["checks"]}["agents"]

    well, drifted = looked("memory_recall"), looked("memory_recall", "gone", disabled="tool-drift")
    listed, registered = re.findall(r"[0-9]+", well["says"])[1:]
    assert (well["ok"], listed) == (True, registered)
    assert f"listed {int(listed) + 1}, registered {listed}; disabled" in drifted["says"]
    assert "scout" in drifted["says"]
    assert (drifted["ok"], "cairn agents enable" in drifted["advice"]) == (False, True)


def test_doctor_and_status_say_how_long_work_has_waited_and_what_to_do() -> None:
    world = World(memories=[memory(1)], backlog=Backlog(topic="embed", seconds=4020))
    queues = FakeQueues(dead=[{"Body": "x", "ReceiptHandle": "r"}])
    settings = {"embed_queue_url": "http://aws/embed"}
    shell = Shell(world=world, aws={"sqs": queues}, settings=settings)
    checks = {
        check["name"]: check for check in json.loads(shell.run("doctor", "--json").stdout)["checks"]
    }
    for name, says, advice in [
        ("api", "behind: the oldest work has waited 67 min", "cairn up"),
        ("embedding", "the oldest waits", "cairn redrive"),
        ("queues", "dead letters in embed; messages: embed 0", "cairn redrive --queue embed"),
    ]:
        assert checks[name]["ok"] is False
        assert says in checks[name]["says"]
        assert advice in checks[name]["advice"]
    assert "the oldest of them has waited" in shell.run("status").stdout


def test_doctor_is_content_with_work_that_has_just_come() -> None:
    world = World(memories=[memory(1)], backlog=Backlog(topic="embed", seconds=899))
    queues = FakeQueues(sent=[{"Body": "x"}])
    settings = {"embed_queue_url": "http://aws/embed"}
    shown = Shell(world=world, aws={"sqs": queues}, settings=settings).run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(shown.stdout)["checks"]}
    assert (checks["api"]["ok"], checks["queues"]["ok"]) == (True, True)
    assert checks["queues"]["says"] == "messages: embed 1"


def test_doctor_goes_on_when_the_database_is_down() -> None:
    shown = Shell(world=World(database_up=False, memories=[memory(1)])).run("doctor", "--json")
    checks = {each["name"]: each["ok"] for each in json.loads(shown.stdout)["checks"]}
    assert checks["api"] is False
    assert checks["key"] is True


def test_a_long_text_is_shown_where_the_words_of_the_question_are() -> None:
    text = "Nothing of note. " * 40 + "The half board costs 39 francs at Tschima. " + "More. " * 40
    shown = snippet(text, "How much does the half board cost at Tschima?")
    assert "half board costs 39 francs" in shown
    assert shown.startswith("… ") and shown.endswith(" …")
    assert snippet("short\n text", "anything") == "short text"


def test_the_owner_lists_every_workspace() -> None:
    shown = Shell(settings=OWNER).run("workspace", "list")
    assert shown.exit_code == 0
    assert f"{UUID(int=5)}" in shown.stdout
    listed = Shell(settings=OWNER).run("workspace", "list", "--json")
    assert [item["name"] for item in json.loads(listed.stdout)["items"]] == ["main"]
    assert Shell().run("workspace", "list").exit_code == 1


def test_the_version_is_printed() -> None:
    shown = Shell().run("--version")
    assert (shown.exit_code, shown.stdout.split()[0]) == (0, "cairn")
