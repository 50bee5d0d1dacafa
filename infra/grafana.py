"""The Grafana dashboard of agents at work, made of the metrics: `python -m infra.grafana`.

It reads what `GET /metrics` shows, through a Prometheus data source that is chosen on the page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cairn.kernel.metrics import SHAPES, Metric, Sort
from infra.metric_titles import TITLES

FILE = Path(__file__).parents[1] / "docs" / "operate" / "dashboards" / "cairn-agents.json"
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH, HEIGHT, COLUMNS = 8, 8, 24
QUANTILES = (0.5, 0.95, 0.99)
UNITS = {"Seconds": "s", "Count": "short", "None": "none"}
CHOSEN = 'workspace=~"$workspace"'
TOTAL = 'workspace=""'


def dashboard() -> dict[str, Any]:
    """Return the page: a panel a metric, by workspace where a metric is kept by it."""
    return {
        "title": "Cairn: agents at work",
        "uid": "cairn-agents",
        "schemaVersion": 39,
        "tags": ["cairn"],
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": [_source(), _workspace()]},
        "panels": [_panel(place, metric) for place, metric in enumerate(Metric)],
    }


def text() -> str:
    """Return the file's text."""
    return json.dumps(dashboard(), indent=2) + "\n"


def _source() -> dict[str, Any]:
    return {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _workspace() -> dict[str, Any]:
    return {
        "name": "workspace",
        "label": "Workspace",
        "type": "query",
        "datasource": SOURCE,
        "query": f"label_values({Metric.LLM_TOKENS.value}, workspace)",
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _panel(place: int, metric: Metric) -> dict[str, Any]:
    shape = SHAPES[metric]
    queries = {
        Sort.COUNTER: _counter,
        Sort.SPREAD: _spread,
        Sort.GAUGE: _gauge,
    }[shape.sort](metric)
    return {
        "id": place + 1,
        "title": TITLES[metric],
        "description": metric.value,
        "type": "timeseries",
        "datasource": SOURCE,
        "gridPos": {
            "x": place * WIDTH % COLUMNS,
            "y": place * WIDTH // COLUMNS * HEIGHT,
            "w": WIDTH,
            "h": HEIGHT,
        },
        "fieldConfig": {
            "defaults": {"unit": _unit(metric), "min": 0},
            "overrides": [],
        },
        "targets": [
            {"refId": chr(65 + number), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for number, (query, legend) in enumerate(queries)
        ],
    }


def _unit(metric: Metric) -> str:
    if metric is Metric.LLM_USD:
        return "currencyUSD"
    shares = (Metric.CONNECTOR_HEALTH, Metric.RETRIEVAL_HIT_RATE)
    return "percentunit" if metric in shares else UNITS[SHAPES[metric].unit]


def _parts(metric: Metric) -> list[tuple[str, ...]]:
    """Return the sets of labels that a metric is shown by, beside its total."""
    return [names for names in SHAPES[metric].sets if names and "workspace" not in names]


def _chosen(metric: Metric) -> str:
    names = {name for names in SHAPES[metric].sets for name in names}
    return f"{{{CHOSEN}}}" if "workspace" in names else ""


def _counter(metric: Metric) -> list[tuple[str, str]]:
    grown = f"increase({metric.value}{_chosen(metric)}[$__rate_interval])"
    parts = [(f"sum by ({', '.join(names)}) ({grown})", _legend(names)) for names in _parts(metric)]
    return [(f"sum({grown})", "all"), *parts]


def _spread(metric: Metric) -> list[tuple[str, str]]:
    where = f"{_chosen(metric)}[$__rate_interval]"
    buckets = f"sum by (le) (rate({metric.value}_bucket{where}))"
    mean = f"sum(rate({metric.value}_sum{where})) / sum(rate({metric.value}_count{where}))"
    quantiles = [
        (f"histogram_quantile({each}, {buckets})", f"p{round(each * 100)}") for each in QUANTILES
    ]
    return [*quantiles, (mean, "mean")]


def _gauge(metric: Metric) -> list[tuple[str, str]]:
    """Return the total, which is the series without a workspace, and the parts beside it."""
    names = max(SHAPES[metric].sets, key=len)
    parts = f'{metric.value}{{workspace!="", {CHOSEN}}}'
    return [(f"{metric.value}{{{TOTAL}}}", "all"), (parts, _legend(names))]


def _legend(names: tuple[str, ...]) -> str:
    return " ".join(f"{{{{{name}}}}}" for name in names)


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
