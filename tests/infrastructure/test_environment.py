"""CDK passes each function exactly the fields of its settings model: no more, no fewer."""

import pytest
from infra.cdk.constructs.cairn_function import FASTER, OPTIONAL
from infra.cdk.functions import discover
from tests.infrastructure.assembly import Assembly

from cairn.settings import SETTINGS

NAMES = sorted(discover())
ONLY_ON_AWS = {"CAIRN_CONSOLE_URL", "CAIRN_KMS_KEY_ARN"}
ONLY_ON_A_LAPTOP = {"CAIRN_CONNECTOR_COMMANDS"}
ON_REQUEST = OPTIONAL - ONLY_ON_AWS - ONLY_ON_A_LAPTOP
REQUESTED = {
    "CAIRN_CHAT_MODEL",
    "CAIRN_EDGE_ONLY",
    "CAIRN_EDGE_SECRETS",
    "CAIRN_OPENSEARCH_AUTH",
    "CAIRN_OPENSEARCH_URL",
}  # by the prod fixture's context


def variable(field: str) -> str:
    """The environment variable a settings field is read from."""
    return f"CAIRN_{field.upper()}"


def passed(assembly: Assembly, name: str) -> set[str]:
    (function,) = (
        function
        for function in assembly.resources("AWS::Lambda::Function")
        if function.properties["FunctionName"].endswith(f"-{name}")
    )
    variables = set(function.properties["Environment"]["Variables"])
    assert variables >= set(FASTER)
    return variables - set(FASTER)


def test_there_is_one_model_for_each_function() -> None:
    assert set(SETTINGS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_declares_the_fields_of_its_model(name: str) -> None:
    assert set(discover()[name].settings) == {
        variable(field) for field in SETTINGS[name].model_fields
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_may_be_missing_is_optional_in_the_model(name: str) -> None:
    fields = SETTINGS[name].model_fields
    required = {variable(field) for field, info in fields.items() if info.is_required()}
    assert not required & OPTIONAL


@pytest.mark.parametrize("name", NAMES)
def test_a_function_gets_what_it_declares(local: Assembly, prod: Assembly, name: str) -> None:
    declared = set(discover()[name].settings)
    assert passed(prod, name) == declared - (ON_REQUEST - REQUESTED) - ONLY_ON_A_LAPTOP
    assert passed(local, name) == declared - ON_REQUEST - ONLY_ON_AWS
