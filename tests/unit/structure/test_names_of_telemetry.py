"""What spans and metrics are called: as the conventions have it, and each metric is told."""

import re
from pathlib import Path

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions

from cairn.kernel.metrics import Metric

SHARED = Path(__file__).parents[3] / "shared" / "cairn"
ATTRIBUTE = re.compile(r"\"(gen_ai\.[a-z_.]+)\"")
OPERATION = re.compile(r"\"gen_ai\.operation\.name\": \"([a-z_]+)\"")
TOLD = re.compile(r"metrics\(\s*Metric\.([A-Z_]+),(?! 0\b)|_tell\(\s*Metric\.([A-Z_]+)")
DEPRECATED = {"gen_ai.completion", "gen_ai.prompt", "gen_ai.system"} | {
    f"gen_ai.usage.{each}_tokens" for each in ("completion", "prompt")
}


def sources() -> str:
    paths = [path for path in SHARED.rglob("*.py") if path.name != "metrics.py"]
    return "\n".join(path.read_text("utf-8") for path in paths)


def test_attributes_and_operations_are_those_of_the_conventions_and_none_is_deprecated() -> None:
    text = sources()
    known = {
        value
        for name, value in vars(conventions).items()
        if name.startswith("GEN_AI_") and isinstance(value, str)
    }
    used = set(ATTRIBUTE.findall(text))
    assert len(used) > 10
    assert used <= known - DEPRECATED
    operations = {each.value for each in conventions.GenAiOperationNameValues}
    assert set(OPERATION.findall(text)) <= operations
    assert "chat" in OPERATION.findall(text)


def test_every_metric_is_told_with_more_than_zero_somewhere() -> None:
    told = {first or second for first, second in TOLD.findall(sources())}
    assert told == {metric.name for metric in Metric}
