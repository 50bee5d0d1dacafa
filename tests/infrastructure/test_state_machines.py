"""Every state machine: parses, names only tokens CDK fills, every state is reached, each Task
is bounded, and only what may be repeated is retried."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonata
import pytest
from infra.cdk.constructs.step_machine import PAGED
from tests.infrastructure.assembly import ROOT, Assembly

from cairn.anchors import verify_chains
from cairn.consolidation import control
from cairn.investigations.state import EDGES, RESUMED, State

FILES = sorted((ROOT / "statemachines").glob("*.asl.json"))
EXPRESSION = re.compile(r"\{%(.*?)%\}")
VARIABLE = re.compile(r"\$(\w+)")
BUILT_IN = {"count", "states", "string", "substring"}
TOKEN = re.compile(r"\$\{(\w+)\}")
MAY_BE_REPEATED = {
    "Unavailable",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.ServiceException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
}
LARGEST = 256 * 1024
LONGEST_HISTORY = 25_000
CALLBACK = ".waitForTaskToken"
NEXT_PAGE = "arn:aws:states:::states:startExecution"
A_DAY = 24 * 3600

Machine = dict[str, Any]


def parsed(path: Path) -> Machine:
    return json.loads(path.read_text(encoding="utf-8"))


def machines(top: Machine) -> Iterator[Machine]:
    """The machine itself and the ones inside its Maps."""
    yield top
    for state in top["States"].values():
        if "ItemProcessor" in state:
            yield from machines(state["ItemProcessor"])


def tasks(top: Machine) -> Iterator[tuple[str, dict[str, Any]]]:
    """The states that call a function."""
    for machine in machines(top):
        for name, state in machine["States"].items():
            if state["Type"] == "Task" and state["Resource"] != NEXT_PAGE:
                yield name, state


def deployed(assembly: Assembly, path: Path) -> Any:
    """The machine that the file at `path` defines, as the assembly deploys it."""
    name = path.name.removesuffix(".asl.json")
    (found,) = [
        machine
        for machine in assembly.resources("AWS::StepFunctions::StateMachine")
        if machine.properties["StateMachineName"].endswith(f"-{name}")
    ]
    return found


def assignments(machine: Machine) -> set[str]:
    """The variables that the states of one machine assign, also when they catch."""
    states = machine["States"].values()
    holders = [*states, *(catcher for state in states for catcher in state.get("Catch", []))]
    return {name for holder in holders for name in holder.get("Assign", {})}


def following(state: dict[str, Any]) -> set[str]:
    catchers = [catcher["Next"] for catcher in state.get("Catch", [])]
    choices = [choice["Next"] for choice in state.get("Choices", [])]
    named = [state[field] for field in ("Next", "Default") if field in state]
    return {*catchers, *choices, *named}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
class TestEveryMachine:
    def test_is_jsonata_and_small_enough(self, path: Path) -> None:
        assert parsed(path)["QueryLanguage"] == "JSONata"
        assert path.stat().st_size < LARGEST

    def test_reaches_every_state_and_names_only_states(self, path: Path) -> None:
        for machine in machines(parsed(path)):
            seen: set[str] = set()
            waiting = {machine["StartAt"]}
            while waiting:
                name = waiting.pop()
                seen.add(name)
                waiting |= following(machine["States"][name]) - seen
            assert seen == set(machine["States"])

    def test_ends_every_branch(self, path: Path) -> None:
        for machine in machines(parsed(path)):
            for name, state in machine["States"].items():
                ends = state.get("End") or state["Type"] == "Fail"
                assert bool(ends) != bool({"Next", "Default"} & set(state)), name

    def test_ends_well_in_a_pass_with_an_output(self, path: Path) -> None:
        states = parsed(path)["States"].values()
        assert not [state for state in states if state["Type"] == "Succeed"]
        ends = [state for state in states if state.get("End")]
        assert ends
        assert all(state["Type"] == "Pass" and "Output" in state for state in ends)

    def test_has_expressions_that_parse_and_know_their_variables(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        expressions = EXPRESSION.findall(text)
        assert expressions
        assigned = {name for top in machines(parsed(path)) for name in assignments(top)}
        for expression in expressions:
            jsonata.Jsonata(expression)  # raises JException where it does not parse
            used = {name for name in VARIABLE.findall(expression) if name not in BUILT_IN}
            assert used <= assigned, expression

    def test_bounds_every_task(self, path: Path) -> None:
        for name, state in tasks(parsed(path)):
            most = A_DAY if state["Resource"].endswith(CALLBACK) else 900
            assert state["TimeoutSeconds"] <= most, name
            assert state["Catch"], name
            assert any("States.ALL" in catcher["ErrorEquals"] for catcher in state["Catch"]), name

    def test_retries_only_what_may_be_repeated_and_with_jitter(self, path: Path) -> None:
        for name, state in tasks(parsed(path)):
            retried = [error for rule in state["Retry"] for error in rule["ErrorEquals"]]
            assert "Unavailable" in retried, name
            assert set(retried) <= MAY_BE_REPEATED, name
            for rule in state["Retry"]:
                assert rule["JitterStrategy"] == "FULL", name
                assert rule["MaxAttempts"] <= 6, name

    def test_has_its_tokens_filled_and_no_others(
        self, path: Path, local: Assembly, prod: Assembly
    ) -> None:
        wanted = set(TOKEN.findall(path.read_text(encoding="utf-8")))
        for assembly in (local, prod):
            machine = deployed(assembly, path)
            assert set(machine.properties["DefinitionSubstitutions"]) == wanted
            assert machine.properties["TracingConfiguration"] == {"Enabled": True}
            logging = machine.properties["LoggingConfiguration"]
            assert (logging["Level"], logging["IncludeExecutionData"]) == ("ALL", False)

    def test_waits_at_least_as_long_as_the_function_may_run(
        self, path: Path, prod: Assembly
    ) -> None:
        machine = deployed(prod, path)
        timeouts = {
            function.id: function.properties["Timeout"]
            for function in prod.resources("AWS::Lambda::Function")
        }
        for name, state in tasks(parsed(path)):
            (token,) = TOKEN.findall(state["Arguments"]["FunctionName"])
            arn = machine.properties["DefinitionSubstitutions"][token]
            assert state["TimeoutSeconds"] >= timeouts[arn["Fn::GetAtt"][0]], name


def test_ingestion_calls_the_steps_in_order_with_the_ids_only() -> None:
    machine = parsed(ROOT / "statemachines" / "ingestion.asl.json")
    payloads = {name: state["Arguments"]["Payload"] for name, state in tasks(machine)}
    assert {name: payload["step"] for name, payload in payloads.items()} == {
        "Parse": "parse",
        "Chunk": "chunk",
        "Store": "store",
        "Embed": "embed",
        "Finish": "finish_ingestion",
        "RecordFailure": "fail_ingestion",
    }
    for name, payload in payloads.items():
        assert {"workspace_id", "ingestion_id"} <= set(payload), name
        assert set(payload) <= {
            "batch",
            "cause",
            "document_id",
            "error",
            "execution",
            "ingestion_id",
            "step",
            "traceparent",
            "workspace_id",
        }
    assert machine["States"]["EmbedBatches"]["MaxConcurrency"] == 2


def test_consolidation_calls_the_steps_of_one_function_with_ids_only() -> None:
    machine = parsed(ROOT / "statemachines" / "consolidation.asl.json")
    payloads = [state["Arguments"]["Payload"] for _, state in tasks(machine)]
    assert {payload["step"] for payload in payloads} == {
        "plan_run",
        "consolidate",
        "summarise",
        "cleanup",
        "finish",
        "fail",
    }
    ids = {"step", "workspace_id", "run_id", "client_id", "execution", "error", "cause", "ends"}
    ids |= {"after", "traceparent"}
    assert all(set(payload) <= ids for payload in payloads)


def test_verification_calls_the_steps_of_one_function_with_ids_and_hashes_only() -> None:
    machine = parsed(ROOT / "statemachines" / "verification.asl.json")
    payloads = [state["Arguments"]["Payload"] for _, state in tasks(machine)]
    assert [sorted(payload) for payload in payloads] == [
        ["after", "step"],
        ["hash", "position", "step", "workspace_id"],
    ]


def events_of(machine: Machine) -> int:
    """What one walk over every state adds to an execution's history, without its Maps' items."""
    each = {"Task": 5, "Map": 4}  # entered, scheduled, started, succeeded, exited; others: 2
    return sum(each.get(state["Type"], 2) for state in machine["States"].values())


@pytest.mark.parametrize(
    ("name", "items"),
    [
        (
            "consolidation",
            {"ConsolidateClients": control.MAX_CLIENTS, "FinishWorkspaces": control.MAX_WORKSPACES},
        ),
        (
            "consolidation",
            {"ConsolidateClients": control.MAX_CLIENTS_OF_ONE, "FinishWorkspaces": 1},
        ),
        ("verification", {"VerifyChains": verify_chains.MAX_WORKSPACES}),
    ],
)
def test_a_page_of_workspaces_fits_into_the_history_of_an_execution(
    name: str, items: dict[str, int]
) -> None:
    machine = parsed(ROOT / "statemachines" / f"{name}.asl.json")
    maps = {at: state for at, state in machine["States"].items() if state["Type"] == "Map"}
    assert maps.keys() == items.keys()
    started_and_ended = 2
    page = sum(
        count * (started_and_ended + events_of(maps[at]["ItemProcessor"]))
        for at, count in items.items()
    )
    assert 4 / 3 * (page + events_of(machine)) < LONGEST_HISTORY  # the rest for what comes again


def test_a_page_starts_the_next_one_once_and_whatever_became_of_it() -> None:
    for name in PAGED:
        machine = parsed(ROOT / "statemachines" / f"{name}.asl.json")
        states = machine["States"]
        failures = [
            catcher["Next"] for state in states.values() for catcher in state.get("Catch", [])
        ]
        assert set(failures) <= {"MorePages", "RecordFailure", "AllWell"}
        following = states["NextPage"]
        assert following["Resource"] == NEXT_PAGE
        assert following["Arguments"]["Name"] == "{% $root & '-' & $string($page + 1) %}"
        taken = following["Catch"][0]
        assert "StepFunctions.ExecutionAlreadyExistsException" in taken["ErrorEquals"]
        assert "Assign" not in taken


@pytest.mark.parametrize("name", sorted(PAGED))
def test_a_paged_machine_may_start_itself_and_no_other(name: str, prod: Assembly) -> None:
    policies = [
        policy.properties["PolicyDocument"]["Statement"]
        for policy in prod.resources("AWS::IAM::Policy")
        if policy.id.startswith(f"{name.capitalize()}Machine") and "EventsRole" not in policy.id
    ]
    [starting] = [
        json.dumps(statement["Resource"])
        for statements in policies
        for statement in statements
        if "states:StartExecution" in statement["Action"]
    ]
    assert f":stateMachine:cairn-prod-{name}" in starting


def test_a_rebuild_goes_on_while_there_is_more_and_carries_ids_only() -> None:
    machine = parsed(ROOT / "statemachines" / "rebuild.asl.json")
    payloads = {name: state["Arguments"]["Payload"] for name, state in tasks(machine)}
    assert {name: payload["step"] for name, payload in payloads.items()} == {
        "Replay": "rebuild",
        "RecordFailure": "fail_rebuild",
    }
    ids = {"step", "workspace_id", "rebuild_id", "error", "traceparent"}
    assert all(set(payload) <= ids for payload in payloads.values())
    (again,) = machine["States"]["MoreEntries"]["Choices"]
    assert (again["Condition"], again["Next"]) == ("{% $states.input.more %}", "Replay")
    assert machine["States"]["Replay"]["Next"] == "MoreEntries"


def test_consolidation_goes_on_with_a_client_while_there_is_more() -> None:
    machine = parsed(ROOT / "statemachines" / "consolidation.asl.json")
    clients = machine["States"]["ConsolidateClients"]
    assert clients["MaxConcurrency"] == 4
    states = clients["ItemProcessor"]["States"]
    assert states["ConsolidateClient"]["Next"] == "MoreMemories"
    (again,) = states["MoreMemories"]["Choices"]
    assert (again["Condition"], again["Next"]) == (
        "{% $states.input.more %}",
        "ConsolidateClient",
    )


INVESTIGATION = parsed(ROOT / "statemachines" / "investigation.asl.json")
BY_STATE = re.compile(r"\{% \$states\.input\.state = '(\w+)' %\}")
SUPERSEDED = {"Condition": "{% $states.input.run != $run %}", "Next": "Superseded"}


def leads_to(choice: str) -> set[str]:
    """The states of an investigation a Choice leads to, each by its own name."""
    first, *others = INVESTIGATION["States"][choice]["Choices"]
    assert first == SUPERSEDED, choice
    assert INVESTIGATION["States"][choice]["Default"] == "Astray"
    for other in others:
        (name,) = BY_STATE.fullmatch(other["Condition"]).groups()
        assert name == other["Next"], choice
    return {other["Next"] for other in others}


def test_the_investigation_leads_where_the_transition_table_does() -> None:
    states = INVESTIGATION["States"]
    drawn = {
        State(name): {State(item) for item in leads_to(states[name]["Next"])}
        for name in states
        if name in set(State) and not State(name).is_end
    }
    assert drawn == {state: set(targets) for state, targets in EDGES.items() if not state.is_end}


def test_every_state_of_an_investigation_is_one_function_call() -> None:
    payloads = {name: state["Arguments"]["Payload"] for name, state in tasks(INVESTIGATION)}
    outside = {"Enter": "enter", "Expire": "expire", "Halt": "halt"}
    named = {state.value: state.value for state in State} | {"WAITING_APPROVAL": "wait"}
    assert {name: payload["step"] for name, payload in payloads.items()} == named | outside
    ids = {"step", "workspace_id", "investigation_id", "run"}
    more = {"Halt": {"error", "cause"}, "WAITING_APPROVAL": {"token"}}
    for name, payload in payloads.items():
        assert set(payload) == ids | more.get(name, set()), name


def test_an_execution_is_entered_where_a_lost_one_is_taken_up() -> None:
    assert leads_to("AfterEnter") == set(RESUMED.values())


def test_a_person_has_a_day_and_what_is_not_decided_expires() -> None:
    waiting = INVESTIGATION["States"]["WAITING_APPROVAL"]
    assert (waiting["Resource"].endswith(CALLBACK), waiting["TimeoutSeconds"]) == (True, A_DAY)
    assert waiting["Catch"][0]["ErrorEquals"] == ["States.Timeout"]
    assert waiting["Catch"][0]["Next"] == "Expire"
    expire = INVESTIGATION["States"]["Expire"]
    assert leads_to(expire["Next"]) == set(EDGES[State.WAITING_APPROVAL])


def test_what_is_out_of_reach_interrupts_and_what_fails_halts() -> None:
    for name, state in tasks(INVESTIGATION):
        caught = {error: item["Next"] for item in state["Catch"] for error in item["ErrorEquals"]}
        ending = name in ("DONE", "HALTED", "Halt")
        assert caught["States.ALL"] == ("Interrupted" if ending else "Halt"), name
        out_of_reach = ("Unavailable", "Runtime.ExitError", "Sandbox.Timedout")
        assert ending or {caught[error] for error in out_of_reach} == {"Interrupted"}, name
    assert leads_to("AfterHalt") == {State.DONE, State.HALTED}
