"""Each stage is synthesised once a run: it takes about ten seconds."""

from pathlib import Path

import pytest
from tests.infrastructure.assembly import Assembly, synthesise

PROD_OPTIONS = {
    "alarm_email": "operator@example.org",
    "jwt_issuer": "https://login.example.org/",
    "jwt_audience": "cairn",
    "opensearch": "true",
    "xray": "on",
    "opensearch_instance": "m7g.medium.search",
    "chat_model": "bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0",
}
OTHER_OPTIONS = {
    "account": "111122223333",
    "region": "eu-central-1",
    "zones": "3",
    "endpoint_zones": "1",
    "egress": "nat",
    "webhooks": "public",
    "embedder": "openai",
    "model_dir": "/elsewhere/model",
    "openai_base_url": "https://llm.example.org/v1",
    "openai_secret_arn": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:embedder",
    "anthropic_secret_arn": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:chat",
    "min_acu": "0",
    "dashboards": "off",
    "max_acu": "8",
    "backup_days": "30",
    "reserved_concurrency": "10",
    "embed_concurrency": "8",
    "requests_a_second": "200",
    "request_burst": "400",
    "cors_origins": "https://console.example.org",
    "console_url": "https://cairn.example.org",
    "console_certificate_arn": "arn:aws:acm:us-east-1:111122223333:certificate/console",
    "sites_url": "https://sites.example.org",
    "sites_certificate_arn": "arn:aws:acm:us-east-1:111122223333:certificate/sites",
    "edge_only": "on",
    "edge_secret": "2",
    "price_class": "all",
    "requests_an_address": "20000",
    "waf": "count",
    "web_acl_arn": "arn:aws:wafv2:us-east-1:111122223333:global/webacl/cairn-prod/0190",
    "edition": "memory",
    "sign_in_issuer": "https://login.example.org/people",
    "sign_in_client_id": "cairn",
    "sign_in_secret_arn": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:sign-in",
    "sign_in_domains": "example.org",
    "sign_in_claim": "cognito:groups",
    "sign_in_roles": "cairn-admins=admin,desk=operator",
    "sign_in_workspace": "01900000-0000-7000-8000-000000000000",
    "sign_in_saml": "https://login.example.org/saml/metadata",
    "sign_in_saml_unasked": "on",
    "oidc_issuer": "https://login.example.org/tenant",
    "oidc_audience": "https://cairn.example.org/mcp",
    "oidc_scopes": "api://cairn/shared",
    "similar_edges": "off",
    "log_level": "WARNING",
    "otlp_endpoint": "https://collector.example.org",
    "anchor_retention_days": "730",
    "search_run_days": "10",
    "investigations": "4",
    "degraded_above": "20",
    "source_buckets": "harbour-lane-handbook, harbour-lane-runbooks",
    "queries_per_minute": "600",
    "items_per_minute": "6000",
    "bytes_per_minute": "1000000",
    "event_ttl_days": "10",
    "fact_archive_days": "20",
    "knowledge_archive_days": "30",
    "openai_embedding_model": "text-embedding-3-small",
    "onnx_embedding_model": "acme/e5?dimensions=384",
    "anthropic_base_url": "https://chat.example.org",
    "chat_model": "anthropic:claude-haiku-4-5",
    "model_budgets": "chat=1",
}
USER_POOL_OPTIONS = {
    "edge": "off",
    "egress": "nat",
    "cognito_callbacks": "https://client.example.org/callback,http://localhost:8765/callback",
}
SMALLEST_OPTIONS = {"endpoint_zones": "1", "min_acu": "0", "dashboards": "off", "waf": "off"}
GROUPS = ("api", "base", "documents", "llm", "model", "sources", "vectors")


@pytest.fixture(scope="session")
def stand_in_layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders where the built layers would be: templates do not depend on what is in them."""
    return _stand_in_layers(tmp_path_factory.mktemp("layers"), "locked today")


def _stand_in_layers(folder: Path, content: str) -> Path:
    for group in GROUPS:
        (folder / group).mkdir()
        (folder / group / "group.txt").write_text(f"{group}, {content}", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What the laptop cloud gets."""
    folder = tmp_path_factory.mktemp("local")
    return synthesise(folder / "cdk.out", stage="local", build=str(folder / "functions"))


@pytest.fixture(scope="session")
def prod(tmp_path_factory: pytest.TempPathFactory, stand_in_layers: Path) -> Assembly:
    """What AWS gets, with the optional parts switched on so that they are checked too."""
    folder = tmp_path_factory.mktemp("prod")
    return synthesise(
        folder / "cdk.out",
        stage="prod",
        layers=str(stand_in_layers),
        build=str(folder / "functions"),
        **PROD_OPTIONS,
    )


@pytest.fixture(scope="session")
def smallest(tmp_path_factory: pytest.TempPathFactory, stand_in_layers: Path) -> Assembly:
    """The least a deployment can cost: no option that makes anything more."""
    folder = tmp_path_factory.mktemp("smallest")
    metadata = folder / "provider.xml"
    metadata.write_text("<EntityDescriptor/>", encoding="utf-8")
    return synthesise(
        folder / "cdk.out",
        stage="prod",
        layers=str(stand_in_layers),
        build=str(folder / "functions"),
        sign_in_saml=str(metadata),
        **SMALLEST_OPTIONS,
    )


@pytest.fixture(scope="session")
def user_pool(tmp_path_factory: pytest.TempPathFactory, stand_in_layers: Path) -> Assembly:
    """What AWS gets that signs users in itself, and so with no issuer of `other_prod`."""
    folder = tmp_path_factory.mktemp("user_pool")
    return synthesise(
        folder / "cdk.out",
        stage="prod",
        layers=str(stand_in_layers),
        build=str(folder / "functions"),
        **USER_POOL_OPTIONS,
    )


@pytest.fixture(scope="session")
def other_prod(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What AWS gets with another lock and model, and the options that `prod` has not."""
    folder = tmp_path_factory.mktemp("other_prod")
    layers = _stand_in_layers(tmp_path_factory.mktemp("other_layers"), "locked tomorrow")
    return synthesise(
        folder / "cdk.out",
        stage="prod",
        layers=str(layers),
        build=str(folder / "functions"),
        **OTHER_OPTIONS,
    )
