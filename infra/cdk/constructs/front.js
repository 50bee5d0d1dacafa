// Runs in CloudFront before its cache: says who asks and for which host, whatever the request says.
// The secret that makes the API believe it is put on by CloudFront itself, behind this.
function handler(event) {
  var request = event.request;
  delete request.headers["x-cairn-edge"];
  request.headers["x-cairn-viewer"] = { value: event.viewer.ip };
  request.headers["x-cairn-host"] = { value: request.headers.host.value };
  return request;
}
