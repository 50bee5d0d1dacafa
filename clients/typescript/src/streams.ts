/** Server-sent events, read line by line (WHATWG HTML, 9.2.6). */

/** One event: `id` is where a stream goes on after it, `data` what it carries. */
export interface StreamEvent {
  id: string | undefined;
  name: string;
  data: unknown;
}

/** Yield the events of a body of text as they come. */
export async function* events(
  body: ReadableStream<Uint8Array>,
  lastId?: string,
): AsyncGenerator<StreamEvent> {
  let id = lastId;
  let name = "";
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === "") {
      if (data.length) yield { id, name: name || "message", data: value(data.join("\n")) };
      name = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = text;
    else if (field === "event") name = text;
    else if (field === "data") data.push(text);
  }
}

function value(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value: bytes } = await reader.read();
      if (done) return;
      rest += decoder.decode(bytes, { stream: true });
      const whole = rest.split(/\r?\n/);
      rest = whole.pop() ?? "";
      yield* whole;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
