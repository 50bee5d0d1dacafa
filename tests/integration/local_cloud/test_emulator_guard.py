"""Who may use the emulator: asked as a web page, as another program, and as botocore signs."""

import http.client
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from infra.local.emulator import ACCOUNT
from tests.support.other_user import as_another_user

from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from tests.plugins.cloud import EmptyCloud

PAGE = "https://pages.example"
LIST_FUNCTIONS = "/2015-03-31/functions"
BUCKET = "guarded"
STAMP = "%Y%m%dT%H%M%SZ"


def ask(
    cloud: "EmptyCloud",
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    extra: tuple[tuple[str, str], ...] = (),
) -> tuple[int, dict[str, str], bytes]:
    """Send these very bytes; http.client changes neither path nor headers."""
    connection = http.client.HTTPConnection("127.0.0.1", cloud.emulator.port, timeout=20)
    given = {"Host": f"127.0.0.1:{cloud.emulator.port}", **(headers or {})}
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in [*given.items(), *extra]:
        connection.putheader(name, value)
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body or None)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    return response.status, {key.lower(): text for key, text in response.getheaders()}, answer


def sign(
    cloud: "EmptyCloud",
    method: str,
    path: str,
    *,
    service: str = "lambda",
    secret: str | None = None,
    body: bytes = b"",
    age: timedelta = timedelta(0),
    headers: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The headers with which botocore signs this request."""
    request = AWSRequest(method, f"{cloud.url}{path}", dict(headers or {}), body)
    credentials = Credentials(ACCOUNT, cloud.emulator.secret if secret is None else secret)
    signer: Any = auth.SigV4Auth(credentials, service, "us-east-1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "get_current_datetime", lambda: utc_now() - age)
        signer.add_auth(request)
    return dict(request.headers.items())


def refused(answer: tuple[int, dict[str, str], bytes]) -> str:
    status, headers, body = answer
    assert status == 403, answer
    assert not any(name.startswith("access-control-") for name in headers)
    return json.loads(body)["message"]


@pytest.fixture(scope="module")
def bucket(cloud: "EmptyCloud") -> str:
    cloud.client("s3").create_bucket(Bucket=BUCKET)
    return BUCKET


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", LIST_FUNCTIONS),
        ("POST", "/?Action=ListQueues"),
        ("GET", f"/{BUCKET}"),
        ("PUT", f"/{BUCKET}/planted"),
        ("GET", "/latest/meta-data/iam/security-credentials/"),
        ("GET", "/_ministack/health"),
        ("GET", "/_ministack/ready"),
        ("POST", "/_ministack/reset"),
        ("POST", "/_ministack/config"),
        ("GET", "/_aws/sqs/messages"),
        ("GET", "/restapis/abc/stage/_user_request_/"),
        ("GET", "/"),
    ],
)
def test_nobody_without_a_signature_is_answered(
    cloud: "EmptyCloud", bucket: str, method: str, path: str
) -> None:
    assert "not signed" in refused(ask(cloud, method, path))
    assert "web pages" in refused(ask(cloud, method, path, {"Origin": PAGE}))
    own = {"Origin": cloud.emulator.upload_origin}
    assert "not signed" in refused(ask(cloud, method, path, own))


@pytest.mark.parametrize("origin", [PAGE, "null", "http://127.0.0.1:8081", "http://localhost:8080"])
def test_a_page_gets_no_leave_from_a_preflight_and_none_with_a_signature(
    cloud: "EmptyCloud", origin: str
) -> None:
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    refused(ask(cloud, "OPTIONS", LIST_FUNCTIONS, asked))
    signed = sign(cloud, "GET", LIST_FUNCTIONS, headers={"Origin": origin})
    assert "web pages" in refused(ask(cloud, "GET", LIST_FUNCTIONS, signed))


@pytest.mark.parametrize("host", ["pages.example", "pages.example:{}", "127.0.0.1", "127.0.0.1:1"])
def test_a_name_that_resolves_to_this_machine_is_not_its_address(
    cloud: "EmptyCloud", host: str
) -> None:
    rebound = {"Host": host.format(cloud.emulator.port)}
    signed = sign(cloud, "GET", LIST_FUNCTIONS, headers=rebound)
    assert "Host" in refused(ask(cloud, "GET", LIST_FUNCTIONS, signed))
    assert "Host" in refused(ask(cloud, "GET", "/_aws/execute-api/abc/$default/healthz", rebound))


@pytest.mark.parametrize("secret", ["", "test", "laptop", "0" * 48])
def test_a_signature_of_other_credentials_is_refused(cloud: "EmptyCloud", secret: str) -> None:
    signed = sign(cloud, "GET", LIST_FUNCTIONS, secret=secret)
    assert "credentials" in refused(ask(cloud, "GET", LIST_FUNCTIONS, signed))


@pytest.mark.parametrize("age", [timedelta(minutes=-6), timedelta(minutes=6), timedelta(days=400)])
def test_a_signature_of_another_time_is_refused(cloud: "EmptyCloud", age: timedelta) -> None:
    signed = sign(cloud, "GET", LIST_FUNCTIONS, age=age)
    assert "clock" in refused(ask(cloud, "GET", LIST_FUNCTIONS, signed))


def test_a_signed_request_is_good_for_itself_alone(cloud: "EmptyCloud") -> None:
    path, body = "/2015-03-31/functions/a/invocations", b'{"step": "look"}'
    later = (utc_now() + timedelta(minutes=1)).strftime(STAMP)
    signed = sign(cloud, "POST", path, body=body)
    assert ask(cloud, "POST", path, signed, body)[0] == 404  # it passes: there is no such function
    for method, other, sent in [
        ("POST", "/2015-03-31/functions/b/invocations", body),
        ("POST", path + "?Qualifier=1", body),
        ("POST", f"/2015-03-31/../2015-03-31{path[11:]}", body),
        ("POST", f"/{path}", body),
        ("POST", path + "/", body),
        ("DELETE", path, body),
        ("POST", path, b'{"step": "take"}'),
        ("POST", path, b""),
    ]:
        refused(ask(cloud, method, other, signed, sent))
    refused(ask(cloud, "POST", path, {**signed, "X-Amz-Target": "AWSLambda.Take"}, body))
    refused(ask(cloud, "POST", path, {**signed, "X-Amz-Date": later}, body))
    refused(ask(cloud, "POST", path, signed, body, (("X-Amz-Date", signed["X-Amz-Date"]),)))
    bare = {**signed, "Authorization": signed["Authorization"].replace("host;", "")}
    assert "Host" in refused(ask(cloud, "POST", path, bare, body))


def test_a_body_that_is_not_hashed_or_not_the_hashed_one_is_refused(
    cloud: "EmptyCloud", bucket: str
) -> None:
    path = f"/{bucket}/note.txt"
    for hashed in ("UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "0" * 64):
        claimed = {"X-Amz-Content-SHA256": hashed}
        signed = sign(cloud, "PUT", path, service="s3", headers=claimed, body=b"a")
        assert "body" in refused(ask(cloud, "PUT", path, signed, b"a"))


@pytest.mark.parametrize(
    "key", ["plain.txt", "a b+c%2Fd.txt", "ünïcode/../é?&=.txt", "a//b", "~tilde*(1)'!.txt"]
)
def test_what_botocore_signs_passes_whatever_the_names_are(
    cloud: "EmptyCloud", bucket: str, key: str
) -> None:
    s3 = cloud.client("s3")
    s3.put_object(Bucket=bucket, Key=key, Body=b"text", Metadata={"kind": "a  b"})
    assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == b"text"
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=key, Delimiter="|")
    assert [content["Key"] for content in listed["Contents"]] == [key]
    s3.delete_object(Bucket=bucket, Key=key)


def test_the_secret_is_of_this_stack_and_is_shown_by_nothing(cloud: "EmptyCloud") -> None:
    assert cloud.emulator.secret not in repr(cloud.emulator)
    assert cloud.emulator.secret not in repr(cloud.emulator.endpoint)
    server = cloud.emulator.daemon.process()
    assert server is not None
    assert cloud.emulator.secret not in " ".join(server.cmdline())
    assert cloud.emulator.secret not in cloud.emulator.daemon.log_file.read_text("utf-8")


def test_the_emulator_listens_on_its_one_port_of_this_machine(cloud: "EmptyCloud") -> None:
    server = cloud.emulator.daemon.process()
    assert server is not None
    family = [server, *server.children(recursive=True)]
    listening = {
        tuple(each.laddr)
        for process in family
        for each in process.net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    }
    assert listening == {("127.0.0.1", cloud.emulator.port)}


@pytest.fixture
def upload(cloud: "EmptyCloud", bucket: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The path of a presigned upload, and the headers that belong to it."""
    params = {"Bucket": bucket, "Key": "u/1", "ContentLength": 4, "ContentType": "text/plain"}
    url = cloud.client("s3").generate_presigned_url("put_object", Params=params, ExpiresIn=60)
    yield url.removeprefix(cloud.url), {"Content-Type": "text/plain"}
    cloud.client("s3").delete_object(Bucket=bucket, Key="u/1")


def test_a_page_of_the_api_uploads_and_no_other_page_does(
    cloud: "EmptyCloud", bucket: str, upload: tuple[str, dict[str, str]]
) -> None:
    path, headers = upload
    wanted = {"Access-Control-Request-Method": "PUT"}
    for origin in (PAGE, "null", "http://127.0.0.1:80801", "http://localhost:8080"):
        refused(ask(cloud, "PUT", path, {**headers, "Origin": origin}, b"evil"))
        refused(ask(cloud, "OPTIONS", path, {**wanted, "Origin": origin}))
    own = {"Origin": cloud.emulator.upload_origin}
    status, leave, _ = ask(cloud, "OPTIONS", path, {**wanted, **own})
    assert (status, leave["access-control-allow-origin"]) == (204, own["Origin"])
    refused(ask(cloud, "OPTIONS", path, {**own, "Access-Control-Request-Method": "DELETE"}))
    refused(ask(cloud, "OPTIONS", LIST_FUNCTIONS, {**wanted, **own}))
    status, leave, _ = ask(
        cloud, "PUT", path, {**headers, **own, "Sec-Fetch-Mode": "cors"}, b"mine"
    )
    assert (status, leave["access-control-allow-origin"]) == (200, own["Origin"])
    assert cloud.client("s3").get_object(Bucket=bucket, Key="u/1")["Body"].read() == b"mine"


def test_a_presigned_url_is_good_for_the_one_upload_it_names(
    cloud: "EmptyCloud", bucket: str, upload: tuple[str, dict[str, str]]
) -> None:
    path, headers = upload
    for method, other, more in [
        ("GET", path, {}),
        ("DELETE", path, {}),
        ("PUT", path.replace("u/1", "u/2"), {}),
        ("PUT", path.replace("Expires=60", "Expires=600"), {}),
        ("PUT", path + "&acl=", {}),
        ("PUT", path + "&X-Amz-Expires=600", {}),
        ("PUT", path, {"X-Amz-Copy-Source": f"/{bucket}/secret"}),
        ("PUT", path, {"Content-Type": "text/html"}),
        ("PUT", path, {"Authorization": "Bearer x"}),
    ]:
        refused(ask(cloud, method, other, {**headers, **more}, b"mine"))
    refused(ask(cloud, "PUT", path, headers, b"of another size"))
    url = cloud.client("s3").generate_presigned_url("get_object", {"Bucket": bucket, "Key": "u/1"})
    assert httpx.get(url).status_code == 403
    assert ask(cloud, "PUT", path, headers, b"mine")[0] == 200


def test_an_expired_upload_is_refused(cloud: "EmptyCloud", bucket: str) -> None:
    params = {"Bucket": bucket, "Key": "u/late"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "get_current_datetime", lambda: utc_now() - timedelta(seconds=61))
        url = cloud.client("s3").generate_presigned_url("put_object", Params=params, ExpiresIn=60)
    assert "too old" in refused(ask(cloud, "PUT", url.removeprefix(cloud.url), {}, b"late"))


def test_what_speaks_to_aws_does_not_pass_as_a_call_of_the_http_api(cloud: "EmptyCloud") -> None:
    path = "/_aws/execute-api/abc/$default/healthz"
    status, headers, body = ask(cloud, "GET", path)
    assert (status, json.loads(body)["message"]) == (404, "Not Found")
    assert "access-control-allow-origin" not in headers
    refused(ask(cloud, "GET", path, {"X-Amz-Target": "AWSCognitoIdentityProviderService.X"}))
    refused(ask(cloud, "GET", f"{path}?X-Amz-Credential=test"))
    refused(ask(cloud, "GET", f"{path}?a=b&x%2DAMZ-Credential=test"))
    refused(ask(cloud, "GET", path, {"Origin": cloud.emulator.upload_origin}))


def test_a_socket_of_a_page_is_closed(cloud: "EmptyCloud") -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    assert ask(cloud, "GET", "/_aws/execute-api/abc/$default/", upgrade)[0] == 403


ASK_EACH = """
import json, sys, urllib.error, urllib.request
for headers in json.loads(sys.argv[2]):
    try:
        urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers=headers), timeout=20)
        print("let in")
    except urllib.error.HTTPError as exc:
        print(exc.code)
"""


def test_another_user_of_the_machine_is_refused_whatever_he_signs_with(cloud: "EmptyCloud") -> None:
    guesses = [sign(cloud, "GET", LIST_FUNCTIONS, secret=each) for each in ("test", "laptop", "")]
    said = as_another_user(ASK_EACH, f"{cloud.url}{LIST_FUNCTIONS}", json.dumps([{}, *guesses]))
    assert said.split() == ["403"] * 4
