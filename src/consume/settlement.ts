import { hostname } from "node:os";

import type { AnyOperation, Delivery, SettleValues } from "./adapter.ts";
import type { AnyContract } from "./contract.ts";
import { askedDelay, operationsAfter } from "./contract.ts";
import type { ConsumerInfo } from "./dead-letter/metadata.ts";
import { deadLetterMetadata } from "./dead-letter/metadata.ts";
import type { ConsumeEvent } from "./event.ts";
import type { Settings } from "./options.ts";
import type { Verdict } from "./run-attempt.ts";
import { unheard } from "./unheard.ts";

/** What is to be done with the broker for the end of an attempt. */
export interface Settlement {
  readonly operations: readonly AnyOperation[];
  readonly values: SettleValues;
}

export const noValues: SettleValues = Object.freeze({ askedDelayMs: null, deadLetter: null, carried: {} });

/** Looks up in the contract what a verdict asks for. What the handler asks for and cannot have is reported. */
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
      const deadLetter = isLast ? lastWords(contract, settings, delivery, verdict) : null;
      const carried = carriedBy(settings, delivery);
      const { askedMs } = verdict;
      if (askedMs === null) return { operations, values: { askedDelayMs: null, deadLetter, carried } };
      const asked = askedDelay(contract, attempt, askedMs);
      if (!isLast && asked?.delayMs !== askedMs) {
        settings.log(notKept(messageId, askedMs, asked?.delayMs ?? null));
      }
      return {
        operations: asked?.operations ?? operations,
        values: { askedDelayMs: asked?.delayMs ?? null, deadLetter, carried },
      };
    }
    default:
      return verdict satisfies never;
  }
}

/** Who watches has no say in what becomes of a message: of what no client library could write, nothing is carried. */
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

/** What a dead letter says. Where the error has no reason of its own, the contract's stays. */
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
