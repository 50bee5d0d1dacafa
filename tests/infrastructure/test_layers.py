"""Asset and layers hold everything a handler imports, and fit into what Lambda unpacks.

Built for this machine's kind, so that each handler can be run from its asset and its layers alone.
"""

import json
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from infra.cdk.config import ROOT
from infra.cdk.functions import FunctionSpec, discover
from infra.cdk.staging import stage_function
from layers import build as layers
from tests.support import lambda_runtime

from cairn.connectors.launching import BUNDLED

UNZIPPED_LIMIT = (
    225_000_000  # Lambda's is 250 MB; what is between is room for a release of a package
)
MACHINE = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
SPECS = discover()
OF_THE_RUNTIME = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "urllib3")
IMPORT_ALONE = """
import importlib, json, sys
runtime, folders, environment, unused, events = json.load(sys.stdin)


class Runtime:
    \"\"\"boto3 and what it brings: the only packages found outside the layers.\"\"\"

    def find_spec(self, name, path=None, target=None):
        if path is None and name in runtime:
            from importlib.machinery import PathFinder
            return PathFinder.find_spec(name, [runtime[name]])
        return None


sys.path[:] = folders + sys.path
sys.meta_path.append(Runtime())
import os
os.environ.update(environment)
module = importlib.import_module("handler")
assert callable(module.handler)
import ast


def load(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name.split(".")[0] not in unused:
            raise


if (projectors := sys.modules.get("cairn.writing.projectors")):  # named in tables
    for named in {*projectors.WITH_TEXTS.values(), *projectors.WITHOUT_TEXTS.values()}:
        load("cairn." + named.rpartition(".")[0])
if (bundled := sys.modules.get("cairn.connectors.launching")):  # started as processes
    for named in bundled.BUNDLED.values():
        load(named)
seen = {"cairn.bootstrap"}  # its own functions are the owner's, who has every package
while cairn := [name for name in sys.modules if name.split(".")[0] == "cairn" and name not in seen]:
    for name in cairn:  # what its functions import when they run must be in the layers too
        seen.add(name)
        source = open(sys.modules[name].__file__, encoding="utf-8").read()
        functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
        for late in (node for function in functions for node in ast.walk(function)):
            if isinstance(late, ast.Import):
                [load(alias.name) for alias in late.names]
            if isinstance(late, ast.ImportFrom):
                load(late.module)
outside = [
    found.__file__ for name, found in sys.modules.items()
    if getattr(found, "__file__", None) and "site-packages" in found.__file__
    and name.split(".")[0] not in runtime
]
assert not outside, outside

from cairn.kernel.errors import Unavailable  # run as far as to the database
from cairn.adapters.postgres.database import Database


def refuse(self):
    raise Unavailable("There is no database here.", reason="no-database")


Database._opened = refuse
for name, event in events.items():
    try:
        answer = module.handler(event, None)
    except Exception as error:
        assert type(error).__name__ == "Unavailable", (name, repr(error))
    else:
        assert answer.get("statusCode") in {None, 200, 401, 503}, (name, answer)
"""

START_CONNECTORS = """
import json, os, sys
sys.path[:0] = ["/var/task", "/opt/python"]
import anyio
from cairn.bootstrap.connectors import ConnectorWires
from cairn.connectors import launching
from cairn.connectors.connector import Launch, Transport
from cairn.connectors.session import Session

launching.INHERITED -= {"without"}


class Settings:
    stage, webhooks, connector_commands = "prod", "public", None


async def start(name, settings):
    launch = Launch(name=name, transport=Transport.STDIO, builtin=name, **settings)
    session, faults = Session(ConnectorWires(Settings())(launch)), []

    def begun(fault):
        faults.append(None if fault is None else repr(vars(fault) or fault.args))

    async with anyio.create_task_group() as group:
        group.start_soon(session.serve, 30.0, begun)
        while not faults:
            await anyio.sleep(0.02)
        if faults[0] is None:
            assert session.tools
        await session.stop()
    return faults[0]


given = json.load(sys.stdin)
print(json.dumps({name: anyio.run(start, name, settings) for name, settings in given.items()}))
"""
USE_MODELS = """
import json, sys
sys.path[:0] = json.load(sys.stdin)
from pathlib import Path
import anthropic, openai
from cairn.embedding.onnx import OnnxEmbedder

assert OnnxEmbedder(Path(sys.path[0])).embed(["Harbourlane."]).shape == (1, 384)
asked = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
there = {"api_key": "k", "base_url": "http://127.0.0.1:9", "max_retries": 0}
theirs, ours = openai.OpenAI(**there), anthropic.Anthropic(**there)
chat, message = theirs.chat.completions.create, ours.messages.create
for call in (
    lambda: chat(**asked),
    lambda: chat(**asked, stream=True),
    lambda: theirs.embeddings.create(model="m", input=["?"]),
    lambda: message(**asked, max_tokens=9),
    lambda: message(**asked, max_tokens=9, stream=True),
):
    try:
        call()
    except (openai.APIConnectionError, anthropic.APIConnectionError):
        continue
    raise AssertionError("nobody listens there")
"""
CUSTOMER = {"secrets": {"dsn": "postgresql://desk@database.example.org/shop"}}
CONNECTORS = {
    "accounts": CUSTOMER,
    "postgres": {**CUSTOMER, "config": {"schemas": ["accounts"]}},
    "http": {"config": {"rules": [{"url": "https://api.example.org/*"}]}},
    "github-issues": {
        "config": {"owner": "harbourlane", "repository": "booking"},
        "secrets": {"token": "ghp_of_a_test"},
    },
    "zoho-desk": {
        "config": {
            "organisation_id": "1",
            "client_id": "client",
            "from_address": "support@example.org",
        },
        "secrets": {"client_secret": "secret", "refresh_token": "refresh"},
    },
}
"""What each needs to start; none is reached before a tool is called."""

SCHEMAS = ("jsonschema", "referencing")  # what arguments of tools are checked by before a call
# Packages that a function's modules import late, in code that this function never calls.
NEVER_CALLED = {
    "act": {"numpy", "onnxruntime", "opensearchpy", "pgvector", "tokenizers"},  # it calls tools
    # it embeds nothing, calls no tools, and neither asks help desks nor checks their webhooks
    "audit": {
        *("authlib", "httpx", "jwt", "numpy", "onnxruntime", "openai", "pgvector", "tokenizers"),
        *SCHEMAS,
    },
    "ingest": {"openai"},  # it makes no vectors: it counts tokens
    # it thinks by models, finds nothing by meaning, and signs in to no mailbox
    "plan": {
        *("authlib", "jwt", "numpy", "onnxruntime", "opensearchpy", "pgvector", "tokenizers"),
        *SCHEMAS,
    },
    "retrieve": {"authlib", "jwt", *SCHEMAS},
    "sync": {"openai"},  # it embeds nothing
}
# What the functions get on AWS; nothing is reached while a handler is imported.
ENVIRONMENT = {
    "AWS_REGION": "eu-central-1",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "CAIRN_ANCHOR_BUCKET": "anchors",
    "CAIRN_APP_DATABASE_URL": "postgresql://cairn_app@database.example.org:5432/cairn",
    "CAIRN_DATABASE_AUTH": "iam",
    "CAIRN_EMBEDDER": "onnx",
    "CAIRN_EMBED_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/embed",
    "CAIRN_WEBHOOK_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/webhook",
    "CAIRN_CONSOLIDATION_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:c",
    "CAIRN_INGESTION_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:i",
    "CAIRN_ESCALATION_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/escalation",
    "CAIRN_CHANNEL_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/channel",
    "CAIRN_TICKET_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/ticket",
    "CAIRN_SOURCE_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/111122223333/source",
    "CAIRN_INVESTIGATION_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:v",
    "CAIRN_KEY_STORE": "dynamodb:keys",
    "CAIRN_KMS_KEY_ARN": "arn:aws:kms:eu-central-1:111122223333:key/k",
    "CAIRN_LOG_LEVEL": "INFO",
    "CAIRN_REBUILD_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:r",
    "CAIRN_WORKFLOW_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:w",
    "CAIRN_SIGNING_KEY": "kms:arn:aws:kms:eu-central-1:111122223333:key/s",
    "CAIRN_STAGE": "prod",
    "CAIRN_UPLOADS_BUCKET": "uploads",
}

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 13) or platform.machine().lower() not in MACHINE,
    reason="the layers are built for Python 3.13 on arm64 and x86_64",
)


@pytest.fixture(scope="module")
def built() -> Path:
    """The layers for this machine, current with the lock; quick when they are."""
    return layers.build(MACHINE[platform.machine().lower()])


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.name)
def test_a_handler_runs_its_sample_events_from_its_asset_and_layers_alone(
    built: Path, spec: FunctionSpec, tmp_path: Path
) -> None:
    asset = stage_function(spec.folder, tmp_path)
    samples = (ROOT / "events" / spec.name).glob("*.json")
    events = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in samples}
    unused = sorted(NEVER_CALLED.get(spec.name, ()))
    if not lambda_runtime.missing():
        runtime = dict.fromkeys(OF_THE_RUNTIME, "/var/runtime")
        environment = ENVIRONMENT | {"CAIRN_MODEL_DIR": "/opt/model/bge-small-en-v1.5"}
        given = [runtime, ["/var/task", "/opt/python"], environment, unused, events]
        done = in_runtime(IMPORT_ALONE, given, built, spec, asset, "-I", "-S", "-B")
    else:
        folders = [str(asset), *(str(built / group / "python") for group in spec.layers)]
        runtime = {name: _parent(name) for name in OF_THE_RUNTIME}
        model = built / "model" / "model" / "bge-small-en-v1.5"
        given = [runtime, folders, ENVIRONMENT | {"CAIRN_MODEL_DIR": str(model)}, unused, events]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", IMPORT_ALONE],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(bool(lambda_runtime.missing()), reason=lambda_runtime.missing())
@pytest.mark.parametrize("name", ["act", "api"])
def test_every_bundled_connector_starts_as_a_process_of_a_function(
    built: Path, name: str, tmp_path: Path
) -> None:
    spec = SPECS[name]
    asset = stage_function(spec.folder, tmp_path)
    assert set(CONNECTORS) == set(BUNDLED)
    started = in_runtime(START_CONNECTORS, CONNECTORS, built, spec, asset)
    assert started.returncode == 0, started.stderr
    faults = json.loads(started.stdout)
    assert faults == dict.fromkeys(CONNECTORS, None)
    if lambda_runtime.needs_its_libraries():  # the test would notice that they are not handed on
        without = START_CONNECTORS.replace('{"without"}', '{"LD_LIBRARY_PATH"}')
        broken = json.loads(in_runtime(without, CONNECTORS, built, spec, asset).stdout)
        assert all("libpython" in str(fault) for fault in broken.values()), broken


def in_runtime(
    source: str, given: object, built: Path, spec: FunctionSpec, asset: Path, *options: str
) -> "subprocess.CompletedProcess[str]":
    """Run a script in the layout of Lambda's runtime, which brings boto3."""
    runtime = asset.parent / "runtime"
    runtime.mkdir(exist_ok=True)
    for name in OF_THE_RUNTIME:
        package = Path(_parent(name)) / name
        module = package if package.is_dir() else package.with_suffix(".py")
        link = runtime / module.name
        if not link.exists():
            link.symlink_to(module)
    layers_of = [built / group for group in spec.layers]
    return lambda_runtime.run(
        source,
        json.dumps(given),
        asset=asset,
        layers=layers_of,
        runtime=runtime,
        options=options,
    )


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.name)
def test_a_function_and_its_layers_fit(built: Path, spec: FunctionSpec, tmp_path: Path) -> None:
    folders = [built / group for group in spec.layers]
    folders.append(stage_function(spec.folder, tmp_path))
    assert sum(layers.unzipped_bytes(folder) for folder in folders) < UNZIPPED_LIMIT


def test_models_answer_from_layers_alone(built: Path, tmp_path: Path) -> None:
    """What is left out of the largest packages is nothing that a vector or a chat needs."""
    asset = stage_function(SPECS["api"].folder, tmp_path)
    folders = [built / group / "python" for group in SPECS["api"].layers]
    model = built / "model" / "model" / "bge-small-en-v1.5"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", USE_MODELS],
        input=json.dumps([str(path) for path in (model, asset, *folders)]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_layer_holds_no_library_that_nothing_in_it_loads(built: Path) -> None:
    for group in layers.GROUPS:
        loadable = {path: path.read_bytes() for path in (built / group).rglob("*.so*")}
        unused = [
            path.name
            for path in loadable
            if path.name.startswith("lib")
            and not any(path.name.encode() in loadable[other] for other in loadable.keys() - {path})
        ]
        assert not unused, (group, unused)


def test_layers_hold_no_tests_byte_code_or_boto3(built: Path) -> None:
    for group in layers.GROUPS:
        packages = built / group / "python"
        names = {path.name for path in packages.rglob("*")}
        assert not names & {"__pycache__", "tests", "boto3", "botocore"}, group


def test_no_package_is_in_two_layers_of_one_function(built: Path) -> None:
    for group in set(layers.GROUPS) - {"base"}:
        here = {path.name for path in (built / group / "python").glob("*.dist-info")}
        base = {path.name for path in (built / "base" / "python").glob("*.dist-info")}
        assert not here & base, group


def test_the_model_is_where_functions_look_for_it(built: Path) -> None:
    folder = built / "model" / "model" / "bge-small-en-v1.5"
    assert {path.name for path in folder.iterdir()} == {"model.onnx", "tokenizer.json"}


def test_the_database_authorities_are_amazon_rds_roots(built: Path) -> None:
    from cryptography import x509

    bundle = (built / "base" / "certificates" / "rds.pem").read_bytes()
    roots = x509.load_pem_x509_certificates(bundle)
    assert len(roots) > 50
    assert all("Amazon RDS" in root.subject.rfc4514_string() for root in roots)


def test_every_layer_is_a_dependency_group() -> None:
    assert set(layers.GROUPS) <= layers.declared_groups()


def _parent(name: str) -> str:
    spec = find_spec(name)
    assert spec is not None and spec.origin is not None, name
    origin = Path(spec.origin)
    return str(origin.parent.parent if origin.name == "__init__.py" else origin.parent)
