import io
import json

from cairn.api.access_log import structured_log


def test_every_event_is_one_json_line_with_its_fields() -> None:
    stream = io.StringIO()
    log = structured_log(stream=stream)
    log("request", {"route": "/v1/search", "status": 200, "ms": 3.1, "request_id": "r-1"})
    log("unexpected", {"error": "KeyError", "request_id": "r-1"})
    good, bad = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (good["message"], good["level"], good["service"]) == ("request", "INFO", "cairn-api")
    assert (good["route"], good["status"], good["ms"]) == ("/v1/search", 200, 3.1)
    assert (bad["level"], bad["error"]) == ("ERROR", "KeyError")
