/** Memory for AI agents: the client of a Cairn deployment. */

export type { Call } from "./call.js";
export * from "./errors.js";
export * from "./memory.js";
export * as operations from "./operations.js";
export type { StreamEvent } from "./streams.js";
