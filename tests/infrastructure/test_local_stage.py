"""The laptop's stage: the same functions, queue, machine and API, and nothing it cannot make."""

from infra.cdk.functions import discover
from tests.infrastructure.assembly import Assembly

ONLY_ON_AWS = {
    "AWS::DynamoDB::Table",
    "AWS::EC2::VPC",
    "AWS::KMS::Key",
    "AWS::Lambda::LayerVersion",
    "AWS::RDS::DBCluster",
    "AWS::SecretsManager::Secret",
}
REFUSED_BY_THE_EMULATOR = {
    "AWS::EC2::NatGateway",
    "AWS::EC2::EIP",
    "AWS::EC2::SecurityGroupIngress",
}
READ_BY_THE_LAUNCHER = {
    "AnchorBucketName",
    "EmbedDeadLetterQueueUrl",
    "EmbedQueueUrl",
    "HttpApiId",
    "ConsolidationMachineArn",
    "IngestionMachineArn",
    "UploadsBucketName",
}


def test_the_local_stage_leaves_out_what_a_laptop_has_without_a_cloud(local: Assembly) -> None:
    assert not local.types() & (ONLY_ON_AWS | REFUSED_BY_THE_EMULATOR)
    assert {"cairn-local-api", "cairn-local-data", "cairn-local-pipeline"} == set(local.templates)


def test_every_output_the_launcher_reads_is_there(local: Assembly) -> None:
    assert set(local.outputs()) >= READ_BY_THE_LAUNCHER


def test_both_stages_have_the_functions_of_the_folders(local: Assembly, prod: Assembly) -> None:
    def names(assembly: Assembly, stage: str) -> set[str]:
        functions = assembly.resources("AWS::Lambda::Function")
        found = {function.properties["FunctionName"] for function in functions}
        return {name.removeprefix(f"cairn-{stage}-") for name in found}

    assert names(local, "local") == set(discover())
    assert names(prod, "prod") == set(discover()) | {"migrator", "protector"}


def test_local_functions_are_told_where_the_laptop_keeps_its_data(local: Assembly) -> None:
    for function in local.resources("AWS::Lambda::Function"):
        variables = function.properties["Environment"]["Variables"]
        assert variables["CAIRN_DATABASE_AUTH"] == "password"
        assert variables["CAIRN_APP_DATABASE_URL"].startswith(
            "postgresql://cairn_app@/cairn?host=/"
        )
        assert "CAIRN_KMS_KEY_ARN" not in variables
