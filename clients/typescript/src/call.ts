/** A call as data, and when it may be sent again. No I/O. */

import { byCode, Problem, ServerError } from "./errors.js";

/** One request of the API. `keyed`: it takes an Idempotency-Key. `reads`: it changes nothing. */
export interface Call<Answer> {
  readonly method: string;
  readonly path: string;
  readonly query?: object;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly keyed?: boolean;
  readonly reads?: boolean;
  /** The type of the answer; there is no value. */
  readonly answer?: Answer;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 30_000;
const SAFE = new Set(["GET", "PUT", "DELETE"]);
export const IDEMPOTENCY_KEY = "idempotency-key";

/** Return the call with an Idempotency-Key, where it takes one and has none. */
export function withKey<Answer>(call: Call<Answer>): Call<Answer> {
  if (!call.keyed || call.headers?.[IDEMPOTENCY_KEY]) return call;
  return { ...call, headers: { ...call.headers, [IDEMPOTENCY_KEY]: crypto.randomUUID() } };
}

/** Return the path with the query; parameters that are undefined are left out. */
export function target(call: Call<unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return query.size ? `${call.path}?${query}` : call.path;
}

function repeatable(call: Call<unknown>): boolean {
  return Boolean(call.reads || SAFE.has(call.method) || call.headers?.[IDEMPOTENCY_KEY]);
}

/**
 * Return how many milliseconds to wait before the call is sent again; undefined: it must not be.
 *
 * What was refused for now was not done, so that any call may come again; what was lost on the way
 * may have been done, so that only a repeatable one may.
 */
export function waitBeforeRetry(
  call: Call<unknown>,
  attempt: number,
  refused?: Problem,
): number | undefined {
  const backoff = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt) * (0.5 + Math.random() / 2);
  if (!refused) return repeatable(call) ? backoff : undefined;
  if (refused.status === 429 || refused.status === 503) {
    return Math.min(LONGEST_WAIT, Math.max(backoff, (refused.retryAfter ?? 0) * 1000));
  }
  if (refused.status === 502 || refused.status === 504) return repeatable(call) ? backoff : undefined;
  return refused.reason === "idempotency-in-flight" ? backoff : undefined;
}

/** Return the refusal that a response tells of. */
export async function problemOf(response: Response): Promise<Problem> {
  const told = await response.json().catch(() => undefined);
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  const known = typeof told === "object" && told !== null && typeof told.type === "string";
  const code = known ? told.type.slice(told.type.lastIndexOf(":") + 1) : "unknown";
  const kind = byCode[code] ?? (response.status >= 500 ? ServerError : Problem);
  return new kind(known ? told.detail : `${response.url} answered ${response.status}.`, {
    code,
    reason: (known && told.reason) || "",
    status: response.status,
    fields: (known && told.errors) || [],
    requestId: (known && told.instance) || response.headers.get("x-request-id") || undefined,
    retryAfter: Number.isNaN(retryAfter) ? undefined : retryAfter,
  });
}
