import type { Delivery } from "./port/adapter.ts";
import type { AnyContract } from "../contract/contract.ts";
import type { ReasonCode } from "./port/dead-letter-fields.ts";
import { classify, isA } from "./failure.ts";
import { afterMs } from "./port/long-timer.ts";
import type { Attempt, BodySchema, Handler } from "./message.ts";
import { type BodyFormat, readBody, UnreadableError } from "./read-body.ts";

export type Verdict =
  | { readonly outcome: "success" }
  | {
      readonly outcome: "transient";
      readonly reason: ReasonCode | null;
      readonly error: unknown;
      readonly askedMs: number | null;
    }
  | {
      readonly outcome: "permanent";
      /** Null if the contract's own reason applies. */
      readonly reason: ReasonCode | (string & {}) | null;
      readonly error: unknown;
    };

/** The input that all attempts of a consumer share. */
export interface AttemptInput {
  readonly contract: AnyContract;
  readonly handler: Handler;
  readonly format: BodyFormat;
  readonly schema: BodySchema | null;
}

/** The handler took longer than declared. */
class HandlerTimeoutError extends Error {
  override readonly name = "HandlerTimeoutError";
}

const success: Verdict = Object.freeze({ outcome: "success" });

/**
 * Runs the handler once. It never rejects.
 *
 * @param lazySignal makes the signal when the handler asks for it, because most never do
 */
export async function runAttempt(input: AttemptInput, delivery: Delivery, lazySignal: LazySignal): Promise<Verdict> {
  const { handlerTimeoutMs } = input.contract;
  try {
    const run = handle(input, delivery, lazySignal);
    await (handlerTimeoutMs === null ? run : within(handlerTimeoutMs, run, lazySignal));
    return success;
  } catch (error) {
    return verdictOf(error, input.contract);
  }
}

async function handle(input: AttemptInput, delivery: Delivery, lazySignal: LazySignal): Promise<void> {
  const read = readBody(delivery.body, input.format, input.schema);
  const body = read instanceof Promise ? await read : read;
  const attempt: Attempt = {
    number: delivery.attempt,
    of: input.contract.attempts.length,
    get signal() {
      return lazySignal.signal();
    },
  };
  const { id, routingKey, headers, raw } = delivery;
  await input.handler({ id, body, routingKey, headers, raw }, attempt);
}

/** Ignores a handler that goes on after its time: its result or error comes too late. */
async function within(limitMs: number, run: Promise<void>, lazySignal: LazySignal): Promise<void> {
  let cancel = (): void => undefined;
  const limit = new Promise<never>((_, reject) => {
    cancel = afterMs(limitMs, () => {
      const error = new HandlerTimeoutError(`the handler took longer than ${limitMs} ms`);
      lazySignal.abort(error);
      reject(error);
    });
  });
  try {
    await Promise.race([run, limit]);
  } finally {
    cancel();
  }
}

function verdictOf(error: unknown, { permanentErrors }: AnyContract): Verdict {
  if (isA(error, HandlerTimeoutError)) return { outcome: "transient", reason: "TIMEOUT", error, askedMs: null };
  if (isA(error, UnreadableError)) return { outcome: "permanent", reason: "UNREADABLE_MESSAGE", error };
  const failure = classify(error, permanentErrors);
  if (failure.kind === "permanent") return { outcome: "permanent", reason: failure.reason, error };
  return { outcome: "transient", reason: null, error, askedMs: failure.askedMs };
}

/** An abort signal that is made when the handler first asks for it. */
export type LazySignal = ReturnType<typeof createLazySignal>;

export function createLazySignal() {
  let controller: AbortController | null = null;
  let aborted: Error | null = null;
  return {
    signal: (): AbortSignal => {
      controller ??= new AbortController();
      if (aborted !== null) controller.abort(aborted);
      return controller.signal;
    },
    abort: (reason: Error) => {
      aborted ??= reason;
      controller?.abort(reason);
    },
  };
}
