import { type Call, problemOf, target, waitBeforeRetry, withKey } from "./call.js";
import { BadAnswer, ConnectionFailed, type Problem, TimedOut } from "./errors.js";
import * as operations from "./operations.js";
import type { components } from "./schema.js";
import { events, type StreamEvent } from "./streams.js";

/** Every type of the API, by its name. */
export type Models = components["schemas"];

const BATCH = 500;
/** What the object store answers to an upload that it has: one whose first answer was lost. */
const UPLOADED = 412;
const UPLOAD_AGAIN = new Set([409, 500, 502, 503, 504]);
const DEFAULT_URL = "http://127.0.0.1:8000";

export interface Options {
  /** The deployment; CAIRN_URL where there are environment variables. */
  url?: string;
  /** The key; CAIRN_API_KEY where there are environment variables. */
  key?: string;
  /** Whose memories these are, an end user or a customer, where a call names no other. */
  clientId?: string;
  /** The conversation that what is remembered came about in; CAIRN_SESSION_ID if there is one. */
  sessionId?: string;
  /** Milliseconds for one answer. */
  timeout?: number;
  /** How often what was refused for now, or lost and may be repeated, is sent again. */
  retries?: number;
  fetch?: typeof fetch;
}

type Fields<T, K extends keyof T = never> = Partial<Omit<T, K>>;
type Wait = { wait?: "embedded"; waitMs?: number; idempotencyKey?: string };
export type RememberFields = Fields<Models["MemoryIn"], "text"> & Wait;
export type RecallFields = Fields<Models["SearchIn"], "query">;
export type ContextFields = Fields<Models["ContextIn"], "query">;
export type SayFields = Fields<Models["MessageIn"], "text" | "session_id"> & Wait;

/**
 * One key on one deployment of Cairn.
 *
 * Writes carry an Idempotency-Key, so that one that is repeated is done once. Every method throws
 * a `CairnError`.
 */
export class Memory {
  readonly url: string;
  readonly clientId: string | undefined;
  readonly sessionId: string | undefined;
  readonly #key: string | undefined;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: Options = {}) {
    const known = (globalThis as { process?: { env?: Record<string, string> } }).process?.env ?? {};
    this.url = (options.url ?? known["CAIRN_URL"] ?? DEFAULT_URL).replace(/\/$/, "");
    this.clientId = options.clientId;
    this.sessionId = options.sessionId ?? known["CAIRN_SESSION_ID"];
    this.#key = options.key ?? known["CAIRN_API_KEY"];
    this.#timeout = options.timeout ?? 60_000;
    this.#retries = options.retries ?? 3;
    this.#fetch = options.fetch ?? fetch;
  }

  /**
   * Return the environment of a delegated run: a child process that remembers for this one.
   *
   * What it remembers comes of this conversation.
   */
  environment(sessionId = this.sessionId): Record<string, string> {
    return {
      CAIRN_URL: this.url,
      ...(this.#key ? { CAIRN_API_KEY: this.#key } : {}),
      ...(sessionId ? { CAIRN_SESSION_ID: sessionId } : {}),
    };
  }

  // Remembering

  /**
   * Remember a text; one with the same `key` takes the place of the one before it.
   *
   * It is found by its words at once, and by meaning when it is embedded: `wait: "embedded"`
   * resolves then, or throws TimedOut after `waitMs`.
   */
  async remember(text: string, fields: RememberFields = {}): Promise<Models["MemoryResult"]> {
    const { wait, waitMs, idempotencyKey, ...rest } = fields;
    const body = { type: "fact", ...this.#origin(), ...rest, text } as Models["MemoryIn"];
    const result = (await this.call(
      operations.remember(body, { "idempotency-key": idempotencyKey }),
    )) as Models["MemoryResult"];
    if (wait === "embedded") await this.waitUntilEmbedded(result.id, waitMs);
    return result;
  }

  /** Remember many, 500 in a request; one that is refused does not stop the others. */
  async rememberAll(
    memories: Iterable<string | Models["MemoryIn"]>,
  ): Promise<Models["MemoryBatchResult"]["results"]> {
    const all = [...memories].map((each) => ({
      ...this.#origin(),
      ...(typeof each === "string" ? { text: each, type: "fact" } : each),
    }));
    const results: Models["MemoryBatchResult"]["results"] = [];
    for (let from = 0; from < all.length; from += BATCH) {
      const items = all.slice(from, from + BATCH) as unknown as Models["MemoryBatch"]["items"];
      const answer = (await this.call(operations.remember({ items }))) as Models["MemoryBatchResult"];
      results.push(...answer.results.map((each) => ({ ...each, index: each.index + from })));
    }
    return results;
  }

  /** Resolve when a memory is found by meaning too; TimedOut when that takes longer. */
  async waitUntilEmbedded(memoryId: string, ms = 60_000): Promise<void> {
    for (let pause = 50, left = ms; !(await this.get(memoryId)).embedded; left -= pause) {
      if (left <= 0) throw new TimedOut(`The memory ${memoryId} is stored and not embedded yet.`);
      await sleep(pause);
      pause = Math.min(1000, pause * 1.5);
    }
  }

  /** Record a message of a conversation; memories are drawn from it unless `infer` is false. */
  say(sessionId: string, text: string, fields: SayFields = {}): Promise<Models["MessageRecorded"]> {
    const { idempotencyKey, wait: _wait, waitMs: _waitMs, ...rest } = fields;
    const defaults = { role: "user", channel: "api", ...this.#client() };
    const body = { ...defaults, ...rest, session_id: sessionId, text } as Models["MessageIn"];
    return this.call(operations.recordMessage(body, { "idempotency-key": idempotencyKey }));
  }

  /** Ingest a text under its source; it is Markdown where the source does not tell. */
  ingest(
    sourceUri: string,
    text: string,
    fields: Fields<Models["DocumentIn"], "source_uri" | "text"> = {},
  ): Promise<Models["DocumentTaken"]> {
    const told = /\.\w+$/.test(sourceUri) ? {} : { media_type: "text/markdown" };
    const body = { ...told, ...this.#client(), ...fields, source_uri: sourceUri, text };
    return this.call(operations.ingestDocument(body as Models["DocumentIn"]));
  }

  /**
   * Ingest the bytes of a file, PDF included, of up to 50 MB; its source's ending tells the type.
   *
   * They go to the object store past the API, which lets none through but these.
   */
  async ingestFile(
    sourceUri: string,
    content: Uint8Array<ArrayBuffer>,
    fields: Fields<Models["DocumentIn"], "source_uri" | "text"> = {},
  ): Promise<Models["DocumentTaken"]> {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const ticket = await this.call(operations.createUpload({ size: content.length, sha256 }));
    await this.#put(ticket, content);
    const body = { ...this.#client(), ...fields, source_uri: sourceUri, upload_id: ticket.upload_id };
    return this.call(operations.ingestDocument(body as Models["DocumentIn"]));
  }

  // Recalling

  /** Return what bears on a question, the best first; nothing is an answer, too. */
  recall(query: string, fields: RecallFields = {}): Promise<Models["SearchAnswer"]> {
    return this.call(
      operations.search({ ...this.#client(), ...fields, query } as Models["SearchIn"]),
    );
  }

  /** Return what bears on a question as one cited text for a prompt. */
  context(query: string, fields: ContextFields = {}): Promise<Models["ContextAnswer"]> {
    return this.call(
      operations.context({ ...this.#client(), ...fields, query } as Models["ContextIn"]),
    );
  }

  /**
   * Return the text of `context` for a host's prompt; null on any failure, or after 8 seconds.
   *
   * For a host that puts memory before each turn: the turn goes on without it, and never waits
   * longer. Nothing is thrown.
   */
  async bridge(query: string, fields: ContextFields = {}, ms = 8_000): Promise<string | null> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), ms);
    });
    try {
      const session = this.sessionId === undefined ? {} : { session_id: this.sessionId };
      const found = await Promise.race([this.context(query, { ...session, ...fields }), late]);
      return found?.context ?? null;
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Record a conversation that grew too long, and return it shorter.
   *
   * The same messages again are recorded once.
   */
  compact(
    sessionId: string,
    messages: Fields<Models["TranscriptTurnIn"]>[],
    fields: Fields<Models["CompactIn"], "session_id" | "messages"> = {},
  ): Promise<Models["CompactedAnswer"]> {
    const body = { ...this.#client(), ...fields, session_id: sessionId, messages };
    return this.call(operations.compact(body as Models["CompactIn"]));
  }

  /** Say whether a result of a search was of use. */
  feedback(searchId: string, nodeId: string, useful: boolean): Promise<Models["Feedback"]> {
    const body = { node_id: nodeId, useful } as Models["FeedbackIn"];
    return this.call(operations.giveFeedback(searchId, body));
  }

  // What is held

  /**
   * Return a page of the nodes that have all the labels and meet all conditions.
   *
   * `warnings` of the page names properties that no node has.
   */
  queryNodes(
    labels: string[],
    fields: Fields<Models["NodeQueryIn"], "labels"> = {},
  ): Promise<Models["NodeQueryAnswer"]> {
    const body = { ...this.#client(), ...fields, labels };
    return this.call(operations.queryNodes(body as Models["NodeQueryIn"]));
  }

  /** Yield the memories, the newest first, page by page as they are read. */
  memories(
    filters: Parameters<typeof operations.listMemories>[0] = {},
  ): AsyncGenerator<Models["MemoryView"]> {
    return this.pages((cursor) =>
      operations.listMemories({ ...this.#client(), ...filters, cursor }),
    );
  }

  /** Return a memory. */
  get(memoryId: string): Promise<Models["MemoryView"]> {
    return this.call(operations.getMemory(memoryId));
  }

  /** Return the versions of a memory. */
  history(memoryId: string): Promise<Models["MemoryHistory"]> {
    return this.call(operations.getMemoryHistory(memoryId));
  }

  /** Put a new version in the place of a memory. */
  correct(
    memoryId: string,
    reason: string,
    fields: Fields<Models["MemoryCorrection"], "reason">,
  ): Promise<Models["EditResult"]> {
    const body = { ...fields, reason } as Models["MemoryCorrection"];
    return this.call(operations.correctMemory(memoryId, body));
  }

  /** Hide a memory from recall and lists. `forget` destroys what is known of somebody. */
  delete(memoryId: string): Promise<Models["Deleted"]> {
    return this.call(operations.deleteMemory(memoryId));
  }

  /** Keep a memory from ageing and fading, and rank it higher. */
  pin(memoryId: string): Promise<Models["EditResult"]> {
    return this.call(operations.pinMemory(memoryId));
  }

  /** Let a memory age and fade again. */
  unpin(memoryId: string): Promise<Models["EditResult"]> {
    return this.call(operations.unpinMemory(memoryId));
  }

  /** Keep a memory, and let no search or context find it. */
  neverRecall(memoryId: string, reason: string): Promise<Models["EditResult"]> {
    return this.call(operations.keepMemoryFromRecall(memoryId, { reason }));
  }

  /** Let a memory be found again. */
  letBeRecalled(memoryId: string): Promise<Models["EditResult"]> {
    return this.call(operations.letMemoryBeRecalled(memoryId));
  }

  /** Destroy what is known of somebody. It cannot be undone; only an admin's key may. */
  forget(
    kind: "client" | "person",
    naturalKey: string,
    fields: Fields<Models["ForgetIn"], "subject"> = {},
  ): Promise<unknown> {
    const subject = { kind, natural_key: naturalKey };
    return this.call(operations.forget({ ...fields, subject } as Models["ForgetIn"]));
  }

  // Everything else

  /** Make any call of `operations` and return its answer by its type. */
  async call<Answer>(call: Call<Answer>): Promise<Answer> {
    const response = await this.#send(withKey(call));
    if (!response.headers.get("content-type")?.startsWith("application/json")) {
      throw new BadAnswer(`${response.url} did not answer with JSON.`);
    }
    return (await response.json()) as Answer;
  }

  /** Yield what a list of `operations` has, over all its pages. */
  async *pages<Item>(
    listed: (cursor: string | undefined) => Call<{ items: Item[]; next_cursor: string | null }>,
  ): AsyncGenerator<Item> {
    let cursor: string | undefined;
    do {
      const page = await this.call(listed(cursor));
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /**
   * Yield the events of an investigation as they happen, until it ends.
   *
   * A connection that is lost is taken up again after the last event that came.
   */
  follow(investigationId: string, after?: string): AsyncGenerator<StreamEvent> {
    return this.#events(
      (last) => operations.followInvestigation(investigationId, {}, { "last-event-id": last }),
      after,
    );
  }

  /**
   * Say something and yield the trace events of the answer as they happen.
   *
   * `text_chunk` carries what is said, `tool_activity` with `phase` pending what waits for the
   * person, `graph_end` the whole answer with its citations. A connection that is lost is taken up
   * again after the last event that came; the turn is not answered twice.
   */
  chat(message: string, fields: Fields<Models["ChatIn"], "message"> = {}): AsyncGenerator<StreamEvent> {
    const turn = fields.turn_id ?? crypto.randomUUID();
    const body = { ...this.#client(), ...fields, message, turn_id: turn };
    return this.#events((last) =>
      last === undefined
        ? operations.chat(body)
        : operations.followChatTurn(turn, {}, { "last-event-id": last }),
    );
  }

  /** Confirm what waits in a chat, or cancel it; `argumentsHash` is of what was shown. */
  decide(actionId: string, confirm: boolean, argumentsHash: string): Promise<Models["ActionView"]> {
    const decision = confirm ? ("confirm" as const) : ("cancel" as const);
    return this.call(
      operations.decideChatAction(actionId, { decision, arguments_hash: argumentsHash }),
    );
  }

  async *#events(
    of: (last: string | undefined) => Call<unknown>,
    after?: string,
  ): AsyncGenerator<StreamEvent> {
    let last = after;
    for (let attempt = 0; ; attempt += 1) {
      const call = of(last);
      const response = await this.#send(call, { streams: true });
      try {
        for await (const event of events(response.body as ReadableStream<Uint8Array>, last)) {
          last = event.id;
          attempt = 0;
          yield event;
        }
        return;
      } catch (error) {
        if (attempt >= this.#retries) throw this.#unreachable(error);
        await sleep(waitBeforeRetry(call, attempt) ?? 0);
      }
    }
  }

  async #put(ticket: Models["UploadTicket"], content: Uint8Array<ArrayBuffer>): Promise<void> {
    const put = { method: "PUT", headers: ticket.headers as Record<string, string>, body: content };
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#fetch(ticket.url, put).catch((error: unknown) => error);
      const status = answer instanceof Response ? answer.status : undefined;
      if (status === UPLOADED || (status !== undefined && status < 300)) return;
      const again = status === undefined || UPLOAD_AGAIN.has(status);
      if (!again || attempt >= this.#retries) {
        throw new ConnectionFailed(`The upload was refused (${status ?? "no answer"}).`);
      }
      await sleep(500 * 2 ** attempt);
    }
  }

  #client(): { client_id?: string } {
    return this.clientId === undefined ? {} : { client_id: this.clientId };
  }

  #origin(): { client_id?: string; session_id?: string } {
    return this.sessionId === undefined
      ? this.#client()
      : { ...this.#client(), session_id: this.sessionId };
  }

  async #send(call: Call<unknown>, { streams = false } = {}): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      let refused: Problem | undefined;
      let lost: unknown;
      try {
        const response = await this.#request(call, streams);
        if (response.ok) return response;
        refused = await problemOf(response);
      } catch (error) {
        lost = error;
      }
      const wait = attempt < this.#retries ? waitBeforeRetry(call, attempt, refused) : undefined;
      if (wait === undefined) throw refused ?? this.#unreachable(lost);
      await sleep(wait);
    }
  }

  #request(call: Call<unknown>, streams: boolean): Promise<Response> {
    const headers = new Headers(call.headers);
    if (this.#key) headers.set("authorization", `Bearer ${this.#key}`);
    const request: RequestInit = { method: call.method, headers };
    if (call.body !== undefined) {
      headers.set("content-type", "application/json");
      request.body = JSON.stringify(call.body);
    }
    if (streams) headers.set("accept", "text/event-stream");
    if (!streams) request.signal = AbortSignal.timeout(this.#timeout);
    return this.#fetch(this.url + target(call), request);
  }

  #unreachable(cause: unknown): ConnectionFailed {
    const message = `${this.url} did not answer: is it running, and CAIRN_URL right?`;
    return new ConnectionFailed(message, { cause });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
