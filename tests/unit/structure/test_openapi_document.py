"""The OpenAPI document can be made of the code as it is: types of answers that moved are found."""

from tests.support.openapi import document


def test_every_answer_of_every_operation_has_a_schema() -> None:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            for status, answer in operation["responses"].items():
                contents = answer["content"].values()
                assert all(content["schema"] for content in contents), (method, path, status)
