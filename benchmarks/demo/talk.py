"""A short chat at the demo's end: two tools, and one question that waits for a yes."""

from typing import Any

from cairn.cli.deps import Deps
from cairn.kernel.ids import new_id

FACT = "The demo's chat was about the third lighthouse keeper, Tove."
SAID = (f"Please remember: {FACT}", "Who was the demo's chat about?", "Forget the demo's chat")


def talk(deps: Deps) -> list[dict[str, Any]]:
    """Have the chat: it remembers, recalls, and deletes what it remembered after a yes."""
    session = f"demo-{new_id()}"
    turns = [_said(deps, session, message) for message in SAID]
    quoted = str(turns[1]["citations"])
    for action in turns[-1]["actions"]:
        if str(action["arguments"].get("id")) not in quoted:
            continue  # it is not what the chat was about
        decision = {"decision": "confirm", "arguments_hash": action["arguments_hash"]}
        done = deps.client.post(f"/v1/chat/actions/{action['id']}", decision)
        turns.append({"message": "(yes)", "answer": f"{done['state']}: {done['result']}"})
    return turns


def talked_well(turns: list[dict[str, Any]]) -> bool:
    """Return whether what was remembered was quoted with its source, and deleted after the yes."""
    recalled = turns[1]
    quoted = turns[1]["source"] == "model" or FACT in recalled["answer"]
    return bool(quoted and recalled["citations"]) and turns[-1]["answer"].startswith("done")


def show_talk(deps: Deps, turns: list[dict[str, Any]]) -> None:
    """Draw the chat."""
    deps.out.print("\n[bold]Chatted[/]")
    for turn in turns:
        deps.out.print(f"  [cyan]>[/] {turn['message']}", highlight=False)
        for line in str(turn["answer"]).splitlines():
            deps.out.print(f"    {line}", markup=False, highlight=False)


def _said(deps: Deps, session: str, message: str) -> dict[str, Any]:
    body = {"message": message, "session_id": session}
    return {"message": message, **deps.client.post("/v1/chat", body)}
