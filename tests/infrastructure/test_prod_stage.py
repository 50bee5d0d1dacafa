"""The AWS stage: what a reviewer of the account would check, checked at every change."""

# pyright: basic

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from infra.cdk.constructs.acknowledgement import SHORTEST_REASON
from infra.cdk.constructs.alarms import NAMESPACE
from infra.cdk.functions import discover
from tests.infrastructure.assembly import Assembly, Resource, run_python
from tests.infrastructure.conftest import OTHER_OPTIONS, USER_POOL_OPTIONS

from cairn.adapters.aws import metrics
from cairn.kernel.metrics import SHAPES, Metric

STACKS = {"api", "data", "network", "observability", "pipeline", "waf"}
ROOT_OF_WILDCARDS = {"ec2:", "logs:", "xray:"}  # actions for which IAM has no resource


def test_the_prod_stage_has_the_six_stacks(prod: Assembly) -> None:
    assert set(prod.templates) == {f"cairn-prod-{name}" for name in STACKS}


def test_templates_pass_cfn_lint(prod: Assembly, user_pool: Assembly) -> None:
    linter = str(Path(sys.executable).with_name("cfn-lint"))
    templates = [*prod.folder.glob("*.template.json"), *user_pool.folder.glob("*api.template.json")]
    assert len(templates) == len(STACKS) + 1
    # W3005: CDK names the role a second time in DependsOn, so that its policy is attached first.
    done = subprocess.run(
        [linter, "--ignore-checks", "W3005", "--", *map(str, templates)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_unacknowledged_finding_refuses_the_synthesis(tmp_path: Path) -> None:
    app = """
from aws_cdk import App, Stack, aws_s3
from infra.cdk.app import hold_to_rules
app = App()
aws_s3.Bucket(Stack(app, "Bare"), "Bucket")
hold_to_rules(app)
app.synth()
"""
    done = run_python("-c", app, folder=tmp_path / "cdk.out")
    assert done.returncode != 0
    assert "AwsSolutions-S1" in done.stdout + done.stderr


def test_the_prod_stage_is_held_to_the_rules(prod: Assembly) -> None:
    report = json.loads((prod.folder / "validation-report.json").read_text(encoding="utf-8"))
    assert report["pluginReports"] == []  # only findings are reported
    assert [r for r in prod.resources() if "cdk_nag" in r.body.get("Metadata", {})]


def test_every_acknowledgement_has_a_reason(prod: Assembly) -> None:
    reasons = [
        rule["reason"]
        for resource in prod.resources()
        for rule in resource.body.get("Metadata", {})
        .get("cdk_nag", {})
        .get("rules_to_suppress", [])
    ]
    assert reasons
    assert all(len(reason) >= SHORTEST_REASON for reason in reasons)


def test_functions_are_arm64_python_with_logs_that_end_and_traces_where_chosen(
    prod: Assembly, smallest: Assembly
) -> None:
    for function in smallest.resources("AWS::Lambda::Function"):
        assert function.properties.get("TracingConfig", {}).get("Mode") != "Active", function.path
    for function in prod.resources("AWS::Lambda::Function"):
        assert function.properties["Architectures"] == ["arm64"], function.path
        assert function.properties["Runtime"] == "python3.13", function.path
        assert function.properties["TracingConfig"] == {"Mode": "Active"}, function.path
        if function.properties["FunctionName"] != "cairn-prod-protector":  # holds no data
            assert function.properties["VpcConfig"]["SubnetIds"], function.path
            assert len(function.properties["Layers"]) <= 5, function.path
        assert "ReservedConcurrentExecutions" not in function.properties, function.path
    for group in prod.resources("AWS::Logs::LogGroup"):
        assert group.properties["RetentionInDays"], group.path


def test_the_metadata_of_who_signs_people_in_are_an_address_or_come_with_the_api(
    other_prod: Assembly, smallest: Assembly
) -> None:
    name = "CAIRN_SIGN_IN_SAML"
    told = {
        function.properties["FunctionName"]: function.properties["Environment"]["Variables"][name]
        for assembly in (other_prod, smallest)
        for function in assembly.resources("AWS::Lambda::Function")
        if name in function.properties.get("Environment", {}).get("Variables", {})
    }
    assert told == {"cairn-prod-api": "/var/task/saml-metadata.xml"}
    (address,) = [
        function.properties["Environment"]["Variables"][name]
        for function in other_prod.resources("AWS::Lambda::Function")
        if function.properties["FunctionName"] == "cairn-prod-api"
    ]
    assert address == "https://login.example.org/saml/metadata"
    assets = [path.parent.name for path in smallest.folder.parent.rglob("functions/*/saml-*.xml")]
    assert assets == ["api"]


def test_every_function_has_a_role_of_its_own(prod: Assembly) -> None:
    roles = [
        (function.stack, json.dumps(function.properties["Role"]))
        for function in prod.resources("AWS::Lambda::Function")
    ]
    assert len(roles) == len(set(roles))
    assert not [
        role.path
        for role in prod.resources("AWS::IAM::Role")
        if "lambda.amazonaws.com" in json.dumps(role.properties) and _managed(role)
    ]


def test_no_policy_has_a_wildcard_that_is_not_acknowledged(prod: Assembly) -> None:
    for policy in prod.resources("AWS::IAM::Policy"):
        accepted = {rule["id"] for rule in _accepted(policy)}
        for statement in policy.properties["PolicyDocument"]["Statement"]:
            assert not [action for action in _listed(statement["Action"]) if "*" in action]
            if "*" in _listed(statement["Resource"]):
                assert any("IAM5" in rule for rule in accepted), policy.path
                for action in _listed(statement["Action"]):
                    assert action.startswith(tuple(ROOT_OF_WILDCARDS)), (policy.path, action)


def test_every_queue_has_dead_letters_and_both_have_alarms(prod: Assembly) -> None:
    queues = {queue.id: queue for queue in prod.resources("AWS::SQS::Queue")}
    dead = {
        queue.properties["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        for queue in queues.values()
        if "RedrivePolicy" in queue.properties
    }
    assert {
        name for name, queue in queues.items() if "RedrivePolicy" in queue.properties
    } | dead == (set(queues))
    watched = {(metric, id_) for metric, id_ in _alarms(prod, "QueueName")}
    for name in queues:
        metric = "NumberOfMessagesVisible" if name in dead else "AgeOfOldestMessage"
        assert (f"Approximate{metric}", name) in watched, name


def test_a_message_stays_hidden_six_times_as_long_as_its_consumer_may_run(
    prod: Assembly,
) -> None:
    longest = {
        resource.id: resource.properties["Timeout"]
        for resource in prod.resources("AWS::Lambda::Function")
    }
    queues = {resource.id: resource.properties for resource in prod.resources("AWS::SQS::Queue")}
    consumed = [
        (
            prod.follow(resource.properties["EventSourceArn"])["Fn::GetAtt"][0],
            resource.properties["FunctionName"]["Ref"],
        )
        for resource in prod.resources("AWS::Lambda::EventSourceMapping")
    ]
    assert {queue for queue, _ in consumed} == {
        name for name, queue in queues.items() if "RedrivePolicy" in queue
    }
    for queue, consumer in consumed:
        assert queues[queue]["VisibilityTimeout"] >= 6 * longest[consumer], queue


def test_every_function_and_machine_has_alarms(prod: Assembly) -> None:
    functions = {
        function.id
        for function in prod.resources("AWS::Lambda::Function")
        if not function.properties["FunctionName"].endswith(("-migrator", "-protector"))
    }
    watched = set(_alarms(prod, "FunctionName"))
    assert {(metric, id_) for id_ in functions for metric in ("Errors", "Throttles")} <= watched
    machines = {metric for metric, _ in _alarms(prod, "StateMachineArn")}
    assert machines == {"ExecutionsFailed", "ExecutionsTimedOut"}


def test_searches_without_vectors_and_old_work_wake_somebody_by_the_metrics_that_are_written(
    prod: Assembly,
) -> None:
    alarms = [
        alarm.properties
        for alarm in prod.resources("AWS::CloudWatch::Alarm")
        if alarm.properties["Namespace"] == metrics.NAMESPACE
    ]
    watched = {
        (alarm["MetricName"], each["Name"], each["Value"], alarm["EvaluationPeriods"])
        for alarm in alarms
        for each in alarm["Dimensions"]
    }
    assert watched == {
        (metrics.VECTOR_LEG_EMPTY, "service", "cairn-api", 3),
        (metrics.VECTOR_LEG_EMPTY, "service", "cairn-retrieve", 3),
        (metrics.OLDEST_OUTBOX_SECONDS, "service", "cairn-audit", 1),
    }


def test_the_dashboard_shows_every_metric_of_searches(prod: Assembly) -> None:
    shown = dashboard(prod, "cairn-prod")
    assert not {name for name in metrics.UNITS if name not in shown}
    assert set(re.findall(r'"Cairn","(\w+)"', shown.replace("\\", ""))) <= metrics.UNITS.keys()


def test_the_dashboard_of_agents_shows_all_fifteen_metrics(prod: Assembly) -> None:
    shown = dashboard(prod, "cairn-prod-agents")
    assert set(re.findall(r"cairn_\w+", shown)) == {item.value for item in Metric}
    assert NAMESPACE == metrics.NAMESPACE
    for metric, shape in SHAPES.items():
        for names in shape.sets:
            if names and "workspace" not in names:
                schema = ",".join((NAMESPACE, *names))
                pattern = rf"SEARCH\('{{{schema}}} MetricName=\\*\"{metric.value}\\*\"'"
                assert re.search(pattern, shown), (metric, names)


def dashboard(prod: Assembly, name: str) -> str:
    """The body of a dashboard as JSON."""
    [page] = [
        resource
        for resource in prod.resources("AWS::CloudWatch::Dashboard")
        if resource.properties["DashboardName"] == name
    ]
    return json.dumps(page.properties["DashboardBody"])


@pytest.mark.parametrize(
    "type_",
    ["AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::RDS::DBCluster", "AWS::RDS::DBInstance"],
)
def test_what_holds_the_ledger_survives_the_stack_but_not_a_failed_creation(
    prod: Assembly, type_: str
) -> None:
    kept = [resource for resource in prod.resources(type_) if resource.stack == "cairn-prod-data"]
    assert kept
    for resource in kept:
        assert resource.body["DeletionPolicy"] == "RetainExceptOnCreate", resource.path
        assert resource.body["UpdateReplacePolicy"] == "Retain", resource.path


def test_the_database_and_the_key_table_are_protected_once_the_rest_of_the_stack_stands(
    prod: Assembly,
) -> None:
    (cluster,) = prod.resources("AWS::RDS::DBCluster")
    (table,) = prod.resources("AWS::DynamoDB::Table")
    assert "DeletionProtection" not in cluster.properties
    assert "DeletionProtectionEnabled" not in table.properties
    (last,) = prod.resources("Custom::CairnProtection")
    others = {
        resource.id
        for resource in prod.resources()
        if resource.stack == last.stack and "Protect" not in resource.id
    }
    waited_for = _depended_on(prod.templates[last.stack], last.id)
    assert others <= waited_for | {"CDKMetadata"}
    (protector,) = (
        function
        for function in prod.resources("AWS::Lambda::Function")
        if function.properties["FunctionName"] == "cairn-prod-protector"
    )
    told = protector.properties["Environment"]["Variables"]
    assert told["CAIRN_DATABASE_CLUSTER"] == {"Ref": cluster.id}
    assert told["CAIRN_KEY_TABLE"] == {"Ref": table.id}


def test_the_database_is_encrypted_backed_up_and_takes_iam_tokens(prod: Assembly) -> None:
    (cluster,) = prod.resources("AWS::RDS::DBCluster")
    assert cluster.properties["StorageEncrypted"] is True
    assert cluster.properties["EnableIAMDatabaseAuthentication"] is True
    assert cluster.properties["BackupRetentionPeriod"] >= 7
    assert int(cluster.properties["EngineVersion"].split(".")[0]) >= 16


def test_functions_ask_for_tokens_of_the_application_role_only(prod: Assembly) -> None:
    connects = [
        json.dumps(statement["Resource"])
        for policy in prod.resources("AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if "rds-db:connect" in _listed(statement["Action"])
    ]
    assert len(connects) == len(discover())
    assert all(re.search(r"/cairn_app\"", resource) for resource in connects)


def test_anchors_cannot_be_deleted_and_uploads_leave(prod: Assembly) -> None:
    buckets = {bucket.id: bucket for bucket in prod.resources("AWS::S3::Bucket")}
    (anchors,) = (bucket for id_, bucket in buckets.items() if "Anchors" in id_)
    (uploads,) = (bucket for id_, bucket in buckets.items() if "Uploads" in id_)
    assert anchors.properties["ObjectLockEnabled"] is True
    rule = anchors.properties["ObjectLockConfiguration"]["Rule"]["DefaultRetention"]
    assert rule == {"Mode": "COMPLIANCE", "Days": 365}
    assert anchors.body["DeletionPolicy"] == "RetainExceptOnCreate"
    rules = uploads.properties["LifecycleConfiguration"]["Rules"]
    expiring = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "Prefix" in rule}
    assert expiring == {"ingestions/": 7, "uploads/": 7}  # published sites stay
    assert not any("ExpirationInDays" in rule for rule in rules if "Prefix" not in rule)
    (cors,) = uploads.properties["CorsConfiguration"]["CorsRules"]
    assert cors["AllowedMethods"] == ["PUT"]
    assert "https://*.cloudfront.net" in cors["AllowedOrigins"]  # no console_url here
    assert set(cors["AllowedHeaders"]) >= {"if-none-match", "x-amz-checksum-sha256"}


def test_the_signing_key_stays_and_who_anchors_or_forgets_signs(prod: Assembly) -> None:
    (key,) = (
        key
        for key in prod.resources("AWS::KMS::Key")
        if key.properties.get("KeyUsage") == "SIGN_VERIFY"
    )
    assert key.properties["KeySpec"] == "ECC_NIST_P256"
    assert key.body["DeletionPolicy"] == "RetainExceptOnCreate"
    granted = {
        policy.path: {
            action
            for statement in policy.properties["PolicyDocument"]["Statement"]
            for action in _listed(statement["Action"])
        }
        for policy in prod.resources("AWS::IAM::Policy")
    }
    signers = {path for path, actions in granted.items() if "kms:Sign" in actions}
    checkers = {path for path, actions in granted.items() if "kms:GetPublicKey" in actions}
    assert {re.match(r"[A-Z][a-z]+", path).group() for path in signers} == {"Api", "Audit"}  # type: ignore[union-attr]
    assert {re.match(r"[A-Z][a-z]+", path).group() for path in checkers} == {"Api", "Audit"}  # type: ignore[union-attr]


def test_the_key_table_has_no_backups(prod: Assembly) -> None:
    (table,) = prod.resources("AWS::DynamoDB::Table")
    recovery = table.properties["PointInTimeRecoverySpecification"]
    assert recovery == {"PointInTimeRecoveryEnabled": False}
    assert [key["AttributeName"] for key in table.properties["KeySchema"]] == [
        "workspace_id",
        "subject_id",
    ]


def test_the_embed_function_takes_part_of_a_batch_and_few_at_once(prod: Assembly) -> None:
    (mapping,) = (
        resource
        for resource in prod.resources("AWS::Lambda::EventSourceMapping")
        if "Embed" in json.dumps(resource.properties["FunctionName"])
    )
    assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping.properties["ScalingConfig"] == {"MaximumConcurrency": 4}
    assert mapping.properties["MaximumBatchingWindowInSeconds"] == 1


def test_the_api_is_throttled_logged_and_takes_tokens_on_its_second_prefix(
    prod: Assembly,
) -> None:
    (stage,) = prod.resources("AWS::ApiGatewayV2::Stage")
    assert stage.properties["StageName"] == "$default"  # no path: the console's pages are at /
    limits = stage.properties["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (50, 100)
    assert stage.properties["AccessLogSettings"]["DestinationArn"]
    routes = {
        route.properties["RouteKey"]: route.properties["AuthorizationType"]
        for route in prod.resources("AWS::ApiGatewayV2::Route")
    }
    assert routes == {
        "$default": "NONE",
        "ANY /jwt/{proxy+}": "JWT",
        "OPTIONS /jwt/{proxy+}": "NONE",  # a browser asks without a token first
    }


def test_without_internet_the_network_has_endpoints_and_no_gateway(prod: Assembly) -> None:
    assert not prod.types() & {"AWS::EC2::NatGateway", "AWS::EC2::InternetGateway"}
    services = [
        json.dumps(endpoint.properties["ServiceName"])
        for endpoint in prod.resources("AWS::EC2::VPCEndpoint")
    ]
    for service in ("bedrock-runtime", "dynamodb", "kms", "s3", "secretsmanager", "sqs", "states"):
        assert [name for name in services if service in name], service


def test_the_endpoint_of_bedrock_is_there_for_a_model_and_in_as_many_zones_as_chosen(
    prod: Assembly, smallest: Assembly
) -> None:
    def zones(assembly: Assembly) -> dict[str, int]:
        return {
            json.dumps(endpoint.properties["ServiceName"]).split(".")[-1].strip('"]} '): len(
                endpoint.properties["SubnetIds"]
            )
            for endpoint in assembly.resources("AWS::EC2::VPCEndpoint")
            if endpoint.properties["VpcEndpointType"] == "Interface"
        }

    others = {"kms": 1, "secretsmanager": 1, "sqs": 1, "states": 1}
    assert zones(smallest) == others
    assert zones(prod) == dict.fromkeys(others, 2) | {"bedrock-runtime": 2, "secretsmanager": 1}


def test_the_functions_that_ask_models_may_ask_the_chosen_one_and_no_other(
    prod: Assembly, smallest: Assembly
) -> None:
    def allowed(assembly: Assembly) -> dict[str, list[str]]:
        return {
            policy.id.split("Role")[0].lower(): [json.dumps(item) for item in statement["Resource"]]
            for policy in assembly.resources("AWS::IAM::Policy")
            for statement in policy.properties["PolicyDocument"]["Statement"]
            if "bedrock:" in json.dumps(statement["Action"])
        }

    assert allowed(smallest) == {}
    assert set(allowed(prod)) == {"api", "consolidate", "plan", "retrieve"}
    for profile, model in allowed(prod).values():
        assert ":inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0" in profile
        assert ":bedrock:*::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0" in model


def test_the_function_that_reads_sources_may_read_the_named_buckets_and_no_other(
    smallest: Assembly, other_prod: Assembly
) -> None:
    def allowed(assembly: Assembly) -> set[tuple[str, str, str]]:
        return {
            (policy.id.split("Role")[0].lower(), action, json.dumps(resource).split(":::")[1])
            for policy in assembly.resources("AWS::IAM::Policy")
            for statement in policy.properties["PolicyDocument"]["Statement"]
            for action in _listed(statement["Action"])
            for resource in _listed(statement["Resource"])
            if ":s3:::" in json.dumps(resource)
        }

    assert allowed(smallest) == set()
    assert allowed(other_prod) == {
        ("sync", "s3:ListBucket", 'harbour-lane-handbook"]]}'),
        ("sync", "s3:GetObject", 'harbour-lane-handbook/*"]]}'),
        ("sync", "s3:ListBucket", 'harbour-lane-runbooks"]]}'),
        ("sync", "s3:GetObject", 'harbour-lane-runbooks/*"]]}'),
    }


def test_migrations_run_again_when_a_file_changes(prod: Assembly) -> None:
    (run,) = prod.resources("Custom::CairnMigrations")
    assert len(run.properties["Files"]) == 64
    assert run.body["DependsOn"]


def _depended_on(template: dict[str, Any], id_: str) -> set[str]:
    """Everything that CloudFormation makes before the resource `id_`, of its own stack."""
    resources, found, to_look = template["Resources"], set[str](), [id_]
    while to_look:
        body = resources[to_look.pop()]
        named = set(_listed(body.get("DependsOn", [])))
        text = json.dumps(body.get("Properties", {}))
        named |= set(re.findall(r'"(?:Ref|Fn::GetAtt)": \[?"(\w+)"', text)) & set(resources)
        to_look += named - found
        found |= named
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _accepted(resource: Resource) -> list[dict[str, str]]:
    """The findings acknowledged on this resource, as cdk-nag writes them into the template."""
    metadata = resource.body.get("Metadata", {})
    return metadata.get("cdk_nag", {}).get("rules_to_suppress", [])


def _managed(role: Resource) -> list[Any]:
    return role.properties.get("ManagedPolicyArns", [])


def _alarms(assembly: Assembly, dimension: str) -> list[tuple[str, str]]:
    """(metric, logical id watched) of every alarm with this dimension."""
    found: list[tuple[str, str]] = []
    for alarm in assembly.resources("AWS::CloudWatch::Alarm"):
        for named in alarm.properties.get("Dimensions", []):
            if named["Name"] == dimension:
                target = assembly.follow(named["Value"])
                id_ = target.get("Ref") or target["Fn::GetAtt"][0]
                found.append((alarm.properties["MetricName"], id_))
    return found


def test_the_search_domain_is_encrypted_inside_the_network_and_refuses_the_unsigned(
    prod: Assembly,
) -> None:
    (domain,) = prod.resources("AWS::OpenSearchService::Domain")
    properties = domain.properties
    assert properties["EncryptionAtRestOptions"]["Enabled"]
    assert properties["NodeToNodeEncryptionOptions"] == {"Enabled": True}
    assert properties["DomainEndpointOptions"]["EnforceHTTPS"]
    assert len(properties["VPCOptions"]["SubnetIds"]) == 2
    (allowed,) = properties["AccessPolicies"]["Statement"]
    assert allowed["Principal"] != {"AWS": "*"}


def test_who_searches_may_not_write_the_search_index(prod: Assembly) -> None:
    writing = re.compile(r"es:ESHttp(Put|Delete|\*)|/_bulk|/_aliases")
    policies = {
        policy.path: json.dumps(policy.properties["PolicyDocument"])
        for policy in prod.resources("AWS::IAM::Policy")
        if "es:ESHttp" in json.dumps(policy.properties["PolicyDocument"])
    }
    writers = {path for path, text in policies.items() if writing.search(text)}
    assert len(policies) == 4
    assert {re.match(r"[A-Z][a-z]+", path).group() for path in writers} == {"Audit", "Embed"}  # type: ignore[union-attr]


def test_the_api_is_told_whose_access_tokens_open_mcp(
    prod: Assembly, other_prod: Assembly, user_pool: Assembly
) -> None:
    def trusted(assembly: Assembly) -> dict[str, Any]:
        (api,) = (
            function.properties["Environment"]["Variables"]
            for function in assembly.resources("AWS::Lambda::Function")
            if function.properties["FunctionName"].endswith("-api")
        )
        return {name: value for name, value in api.items() if name.startswith("CAIRN_OIDC_")}

    assert trusted(prod) == {}
    assert trusted(other_prod) == {
        f"CAIRN_{name.upper()}": OTHER_OPTIONS[name]
        for name in ("oidc_issuer", "oidc_audience", "oidc_scopes")
    }
    (pool,) = user_pool.resources("AWS::Cognito::UserPool")
    (client,) = user_pool.resources("AWS::Cognito::UserPoolClient")
    issuer = trusted(user_pool)
    assert pool.id in json.dumps(issuer["CAIRN_OIDC_ISSUER"])
    assert "/mcp" in json.dumps(issuer["CAIRN_OIDC_AUDIENCE"])
    assert client.properties["CallbackURLs"] == USER_POOL_OPTIONS["cognito_callbacks"].split(",")
    assert client.properties["AllowedOAuthFlows"] == ["code"]
    assert "GenerateSecret" not in client.properties or not client.properties["GenerateSecret"]


def test_the_api_is_told_where_people_open_the_console(
    prod: Assembly, other_prod: Assembly
) -> None:
    def told(assembly: Assembly) -> str:
        (api,) = (
            function.properties["Environment"]["Variables"]
            for function in assembly.resources("AWS::Lambda::Function")
            if function.properties["FunctionName"].endswith("-api")
        )
        return json.dumps(api["CAIRN_CONSOLE_URL"])

    (own,) = prod.resources("AWS::CloudFront::Distribution")
    assert own.id in told(prod)
    assert told(other_prod) == json.dumps(OTHER_OPTIONS["console_url"])


def test_functions_know_the_search_domain_and_sign(prod: Assembly) -> None:
    told = {
        function.path: function.properties["Environment"]["Variables"]
        for function in prod.resources("AWS::Lambda::Function")
        if "CAIRN_OPENSEARCH_URL" in str(function.properties.get("Environment"))
    }
    assert len(told) == 4
    assert {each["CAIRN_OPENSEARCH_AUTH"] for each in told.values()} == {"iam"}


@pytest.mark.parametrize("stage", ["local", "prod"])
def test_executions_of_investigations_that_fail_are_told_to_audit(
    stage: str, request: pytest.FixtureRequest
) -> None:
    assembly: Assembly = request.getfixturevalue(stage)
    (rule,) = [
        resource
        for resource in assembly.resources("AWS::Events::Rule")
        if "EventPattern" in resource.properties
    ]
    detail = rule.properties["EventPattern"]["detail"]
    assert detail["status"] == ["FAILED", "TIMED_OUT", "ABORTED"]
    assert f"stateMachine:cairn-{stage}-investigation" in json.dumps(detail["stateMachineArn"])
    (target,) = rule.properties["Targets"]
    assert "Audit" in json.dumps(target["Arn"])
    assert "Input" not in target


@pytest.mark.parametrize("action", ["states:SendTaskSuccess", "states:DescribeExecution"])
def test_who_runs_steps_of_investigations_may_answer_the_machine_and_see_who_waits(
    prod: Assembly, action: str
) -> None:
    allowed = {
        re.match(r"[A-Z][a-z]+", policy.path).group()  # type: ignore[union-attr]
        for policy in prod.resources("AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if action in _listed(statement["Action"])
    }
    assert allowed == {"Act", "Api", "Audit", "Plan", "Retrieve"}


def test_waiting_tasks_of_the_one_machine_are_answered_and_never_failed(prod: Assembly) -> None:
    answering = [
        (action, json.dumps(statement["Resource"]))
        for policy in prod.resources("AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in _listed(statement["Action"])
        if action.startswith("states:SendTask")
    ]
    assert {action for action, _ in answering} == {"states:SendTaskSuccess"}
    assert not [resource for _, resource in answering if "nvestigation" not in resource]


@pytest.mark.parametrize("stage", ["local", "prod"])
def test_memories_are_consolidated_every_six_hours(
    stage: str, request: pytest.FixtureRequest
) -> None:
    assembly: Assembly = request.getfixturevalue(stage)
    (rule,) = [
        resource
        for resource in assembly.resources("AWS::Events::Rule")
        if resource.properties.get("ScheduleExpression") == "cron(17 0/6 * * ? *)"
    ]
    assert rule.properties["Name"] == f"cairn-{stage}-consolidation"
    (target,) = rule.properties["Targets"]
    assert "ConsolidationMachine" in str(target["Arn"])
