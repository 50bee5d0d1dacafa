/** What may be thrown: a tree, so that a program catches as much as it means to. */

/** Everything that this package throws. */
export class CairnError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came: the deployment cannot be reached, or the connection was lost. */
export class ConnectionFailed extends CairnError {}

/** What was waited for did not happen in time. It may still happen. */
export class TimedOut extends CairnError {}

/** The answer is not one of this API: look at the address. */
export class BadAnswer extends CairnError {}

/** A fault of one field: where it is, and the rule that it breaks. */
export interface FieldError {
  location: string;
  message: string;
}

export interface ProblemParts {
  /** Stable, such as `validation-failed`. */
  code: string;
  /** A stable word that says more than the code. */
  reason: string;
  status: number;
  fields: FieldError[];
  /** Finds the request in the deployment's log. */
  requestId: string | undefined;
  /** Seconds. */
  retryAfter: number | undefined;
}

/** The API refused the request (RFC 9457), by what it says about it. */
export class Problem extends CairnError implements ProblemParts {
  readonly code: string;
  readonly reason: string;
  readonly status: number;
  readonly fields: FieldError[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    readonly detail: string,
    parts: ProblemParts,
  ) {
    super(`${detail} (${parts.code}, ${parts.status})`);
    this.code = parts.code;
    this.reason = parts.reason;
    this.status = parts.status;
    this.fields = parts.fields;
    this.requestId = parts.requestId;
    this.retryAfter = parts.retryAfter;
  }
}

/** The request itself is wrong: it will be refused again. */
export class InvalidRequest extends Problem {}
export class MalformedBody extends InvalidRequest {}
export class ValidationFailed extends InvalidRequest {}
export class TooLarge extends InvalidRequest {}
export class MethodNotAllowed extends InvalidRequest {}
export class UnsupportedMediaType extends InvalidRequest {}

/** The key does not allow this. */
export class AccessRefused extends Problem {}
export class Unauthenticated extends AccessRefused {}
export class Denied extends AccessRefused {}

/** It was refused for now. It was tried again as often as `retries` says. */
export class TemporaryProblem extends Problem {}
export class RateLimited extends TemporaryProblem {}
export class Unavailable extends TemporaryProblem {}

export class NotFound extends Problem {}
export class Conflict extends Problem {}
export class BudgetExceeded extends Problem {}
export class NotStreamable extends Problem {}
/** A bug of the deployment; `requestId` finds it in its log. */
export class ServerError extends Problem {}

export const byCode: Record<string, typeof Problem> = {
  "malformed-body": MalformedBody,
  "validation-failed": ValidationFailed,
  "too-large": TooLarge,
  "method-not-allowed": MethodNotAllowed,
  "unsupported-media-type": UnsupportedMediaType,
  unauthenticated: Unauthenticated,
  denied: Denied,
  "not-found": NotFound,
  conflict: Conflict,
  "budget-exceeded": BudgetExceeded,
  "not-streamable": NotStreamable,
  "rate-limited": RateLimited,
  unavailable: Unavailable,
  internal: ServerError,
};
