import { hostname } from "node:os";

import type { Delivery, SettleValues } from "./port/adapter.ts";
import type { AnyContract, AnyOperation } from "../contract/contract.ts";
import { operationsAfter, askedDelay } from "../contract/interpret.ts";
import { type ConsumerInfo, deadLetterMetadata } from "./dead-letter/metadata.ts";
import type { ConsumeEvent } from "./port/event.ts";
import type { Settings } from "./options.ts";
import type { Verdict } from "./run-attempt.ts";
import { unheard } from "./unheard.ts";

/** The operations at the broker for the end of an attempt. */
export interface Settlement {
  readonly operations: readonly AnyOperation[];
  readonly values: SettleValues;
}

export const noValues: SettleValues = Object.freeze({ askedDelayMs: null, deadLetter: null, carried: {} });

/**
 * Finds the operations for a verdict in the contract. It reports a delay that the handler asked for and cannot have.
 */
export function settlementOf(
  contract: AnyContract,
  settings: Settings,
  delivery: Delivery,
  verdict: Verdict,
): Settlement {
  const { attempt, id: messageId } = delivery;
  const operations = operationsAfter(contract.outcomes[verdict.outcome], attempt);
  switch (verdict.outcome) {
    case "success":
      return { operations, values: noValues };
    case "permanent": {
      const deadLetter = lastWords(contract, settings, delivery, verdict);
      return { operations, values: { askedDelayMs: null, deadLetter, carried: carriedBy(settings, delivery) } };
    }
    case "transient": {
      const isLast = attempt >= contract.attempts.length;
      const mayDie = isLast || operations.some((operation) => "ifTooLarge" in operation);
      const deadLetter = mayDie ? lastWords(contract, settings, delivery, verdict) : null;
      const carried = carriedBy(settings, delivery);
      const { askedMs } = verdict;
      if (askedMs === null) return { operations, values: { askedDelayMs: null, deadLetter, carried } };
      const asked = askedDelay(contract, attempt, askedMs);
      if (!isLast && asked?.delayMs !== askedMs) settings.log(notKept(messageId, askedMs, asked?.delayMs ?? null));
      return {
        operations: asked?.operations ?? operations,
        values: { askedDelayMs: asked?.delayMs ?? null, deadLetter, carried },
      };
    }
    default:
      return verdict satisfies never;
  }
}

/** Telemetry may not change the fate of a message, so values that no client library can write are left out. */
function carriedBy({ telemetry }: Settings, delivery: Delivery): SettleValues["carried"] {
  let carried = noValues.carried;
  unheard(() => {
    const answer: unknown = telemetry?.carried?.(delivery);
    const texts = Object.entries(answer ?? {}).filter(([, value]) => typeof value === "string");
    carried = Object.fromEntries(texts) as SettleValues["carried"];
    return answer;
  });
  return carried;
}

function notKept(messageId: string | null, askedMs: number, longestMs: number | null): ConsumeEvent {
  return { kind: "delay-not-kept", messageId, askedMs, longestMs };
}

/** The fields of a dead letter. If the error has no reason of its own, the contract's reason stays. */
function lastWords(
  contract: AnyContract,
  settings: Settings,
  delivery: Delivery,
  verdict: Exclude<Verdict, { outcome: "success" }>,
): Readonly<Record<string, string>> {
  const { service, redact } = settings;
  return deadLetterMetadata(verdict.error, {
    workQueue: contract.workQueue ?? "",
    reason: verdict.outcome === "permanent" ? (verdict.reason ?? "") : "",
    failedAt: new Date(),
    attempt: delivery.attempt,
    consumer: { ...processInfo, service: contract.consumer, ...service },
    ...(delivery.id === null ? {} : { messageId: delivery.id }),
    ...(delivery.correlationId === null ? {} : { correlationId: delivery.correlationId }),
    ...(redact === null ? {} : { redact }),
  }) as Readonly<Record<string, string>>;
}

const processInfo = { hostname: hostname(), pid: process.pid } satisfies Partial<ConsumerInfo>;
