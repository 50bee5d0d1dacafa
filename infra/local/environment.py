"""The environment of the laptop's functions and front door, and the file the user sources.

The names are those of `cairn.settings`; on AWS the CDK app gives the same ones.
"""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from infra.local.emulator import Endpoint
from infra.local.layout import Layout
from infra.local.state import write_private

TAKEN_FROM_THE_SHELL = (
    "CAIRN_ANTHROPIC_API_KEY",
    "CAIRN_ANTHROPIC_BASE_URL",
    "CAIRN_BEDROCK_API_KEY",
    "CAIRN_BEDROCK_BASE_URL",
    "CAIRN_BYTES_PER_MINUTE",
    "CAIRN_CAUSAL_BOOST",
    "CAIRN_CHAT_MODEL",
    "CAIRN_CONSOLE_URL",
    "CAIRN_CORS_ORIGINS",
    "CAIRN_DECAY_FACTOR",
    "CAIRN_EMBEDDER",
    "CAIRN_DEGRADED_ABOVE",
    "CAIRN_EDGE_ONLY",
    "CAIRN_EDGE_SECRETS",
    "CAIRN_EDITION",
    "CAIRN_EVENT_TTL_DAYS",
    "CAIRN_FACT_ARCHIVE_DAYS",
    "CAIRN_GRAPH_SEARCH_DECAY",
    "CAIRN_INVESTIGATIONS",
    "CAIRN_ITEMS_PER_MINUTE",
    "CAIRN_KNOWLEDGE_ARCHIVE_DAYS",
    "CAIRN_LOG_LEVEL",
    "CAIRN_MAX_DEPTH",
    "CAIRN_MODEL_BUDGETS",
    "CAIRN_OIDC_AUDIENCE",
    "CAIRN_OIDC_ISSUER",
    "CAIRN_OIDC_SCOPES",
    "CAIRN_ONNX_EMBEDDING_MODEL",
    "CAIRN_OPENAI_API_KEY",
    "CAIRN_OPENAI_BASE_URL",
    "CAIRN_OPENAI_EMBEDDING_MODEL",
    "CAIRN_OTLP_ENDPOINT",
    "CAIRN_QUERIES_PER_MINUTE",
    "CAIRN_RERANKER_DIR",
    "CAIRN_RRF_K",
    "CAIRN_SEARCH_RUN_DAYS",
    "CAIRN_SIGN_IN_CLAIM",
    "CAIRN_SIGN_IN_CLIENT_ID",
    "CAIRN_SIGN_IN_CLIENT_SECRET",
    "CAIRN_SIGN_IN_DOMAINS",
    "CAIRN_SIGN_IN_ISSUER",
    "CAIRN_SIGN_IN_ROLES",
    "CAIRN_SIGN_IN_SAML",
    "CAIRN_SIGN_IN_SAML_UNASKED",
    "CAIRN_SIGN_IN_WORKSPACE",
    "CAIRN_SIMILAR_EDGES",
    "CAIRN_SOURCE_BUCKETS",
    "CAIRN_SOURCE_FOLDERS",
    "CAIRN_SOURCE_PRIVATE_HOSTS",
)
SERVER = (
    "CAIRN_DATABASE_CONNECTIONS",
    "CAIRN_FETCH_PRIVATE_HOSTS",
    "CAIRN_LONGEST_WAIT_SECONDS",
    "CAIRN_METRICS_TOKEN",
    "CAIRN_READS_AT_ONCE",
    "CAIRN_REQUEST_THREADS",
    "CAIRN_WRITES_AT_ONCE",
)
"""What only the front door takes from the shell: functions serve one request at a time."""

OUTPUTS: Mapping[str, str] = {
    "CAIRN_UPLOADS_BUCKET": "UploadsBucketName",
    "CAIRN_ANCHOR_BUCKET": "AnchorBucketName",
    "CAIRN_EMBED_QUEUE_URL": "EmbedQueueUrl",
    "CAIRN_WEBHOOK_QUEUE_URL": "WebhookQueueUrl",
    "CAIRN_TICKET_QUEUE_URL": "TicketQueueUrl",
    "CAIRN_ESCALATION_QUEUE_URL": "EscalationQueueUrl",
    "CAIRN_CHANNEL_QUEUE_URL": "ChannelQueueUrl",
    "CAIRN_SOURCE_QUEUE_URL": "SourceQueueUrl",
    "CAIRN_INGESTION_MACHINE_ARN": "IngestionMachineArn",
    "CAIRN_CONSOLIDATION_MACHINE_ARN": "ConsolidationMachineArn",
    "CAIRN_REBUILD_MACHINE_ARN": "RebuildMachineArn",
    "CAIRN_INVESTIGATION_MACHINE_ARN": "InvestigationMachineArn",
    "CAIRN_WORKFLOW_MACHINE_ARN": "WorkflowMachineArn",
}
HTTP_API_OUTPUT = "HttpApiId"
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./?-]*")


def synthesis_env(
    layout: Layout,
    app_database_url: str,
    opensearch_url: str = "",
    embedder: Mapping[str, str] = MappingProxyType({}),
    sites_url: str = "",
) -> dict[str, str]:
    """What the CDK app reads at synth to wire the functions to the laptop's own parts.

    `embedder` was chosen by a switch and counts more than the shell, which may have read the file
    of before.
    """
    search = {"CAIRN_OPENSEARCH_URL": opensearch_url} if opensearch_url else {}
    sites = {"CAIRN_SITES_URL": sites_url} if sites_url else {}
    shell = {name: os.environ[name] for name in TAKEN_FROM_THE_SHELL if name in os.environ}
    return {
        "CAIRN_MODEL_DIR": str(layout.model),
        **shell,
        **embedder,
        **search,
        **sites,
        "CAIRN_APP_DATABASE_URL": app_database_url,
        "CAIRN_CONNECTOR_COMMANDS": str(layout.connector_commands),
        "CAIRN_KEY_STORE": f"file:{layout.keys}",
        "CAIRN_SIGNING_KEY": f"file:{layout.signing_key}",
    }


def front_door_env(
    layout: Layout,
    *,
    app_database_url: str,
    outputs: Mapping[str, str],
    endpoint: Endpoint,
    opensearch_url: str = "",
    embedder: Mapping[str, str] = MappingProxyType({}),
    sites_url: str = "",
) -> dict[str, str]:
    """The api function's environment for uvicorn, with what only AWS clients need added."""
    defaults = {
        "CAIRN_EMBEDDER": "onnx",
        "CAIRN_LOG_LEVEL": "INFO",
        "CAIRN_WEBHOOKS": "private",
    }
    return {
        **defaults,
        **{name: os.environ[name] for name in SERVER if name in os.environ},
        **synthesis_env(layout, app_database_url, opensearch_url, embedder, sites_url),
        "CAIRN_STAGE": "local",
        "CAIRN_DATABASE_AUTH": "password",
        **{name: outputs[key] for name, key in OUTPUTS.items() if key in outputs},
        **endpoint.env(),
    }


def metrics_env(layout: Layout, token: str = "") -> dict[str, str]:
    """Where a process counts its metrics, and for the one that shows them: to whom."""
    shown = {"CAIRN_METRICS_TOKEN": token} if token else {}
    return {METRICS_FOLDER: str(layout.metrics), **shown}


def sites_url(port: int) -> str:
    """Where published sites are: a host of their own, since cookies know no ports.

    Browsers and curl take every name below `localhost` for this machine (RFC 6761).
    """
    return os.environ.get("CAIRN_SITES_URL") or f"http://sites.localhost:{port}"


def gateway_url(outputs: Mapping[str, str], emulator_url: str) -> str:
    """The API through API Gateway and Lambda; empty when the stack has no HTTP API."""
    api_id = outputs.get(HTTP_API_OUTPUT)
    return f"{emulator_url}/_aws/execute-api/{api_id}/$default" if api_id else ""


def write_env_file(path: Path, values: Mapping[str, str]) -> None:
    """Write NAME=value lines a shell can source, mode 600."""
    lines = [f"{name}={_quoted(value)}" for name, value in values.items()]
    write_private(path, "\n".join(lines) + "\n")


def read_env_file(path: Path) -> dict[str, str]:
    """The values of a file written by `write_env_file`; empty when there is none."""
    if not path.is_file():
        return {}
    pairs = (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines())
    return {name: "".join(shlex.split(value)) for name, mark, value in pairs if mark}


def _quoted(value: str) -> str:
    return value if PLAIN.fullmatch(value) else shlex.quote(value)
