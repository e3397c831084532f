import type { ServiceBusMessage, ServiceBusReceivedMessage } from "@azure/service-bus";
import type { ExpectStatic } from "vitest";

import type { Decision } from "../../decide.ts";
import type { DrivenConsumer, DriveOptions, ServicebusContract } from "../drive.ts";
import type { ServicebusTargetInput } from "../register.ts";

/** A running system, on the emulator in the tests' process or on Microsoft's. */
export interface RunningSystem {
  readonly contract: (consumer: string) => ServicebusContract;
  /** Publishes to the topic `orders`. */
  readonly publish: (...messages: readonly ServiceBusMessage[]) => Promise<void>;
  readonly drive: (
    consumer: string,
    decide: DriveOptions["decide"],
    options?: Partial<Pick<DriveOptions, "draw" | "contract">>,
  ) => DrivenConsumer;
  /** Everything in a queue, a subscription or a dead-letter queue now, including scheduled messages. It stays there. */
  readonly peek: (path: string) => Promise<readonly ServiceBusReceivedMessage[]>;
  /** Everything in the consumer's dead queue. */
  readonly letters: (consumer: string) => Promise<readonly ServiceBusReceivedMessage[]>;
}

/** A behaviour of a deployed system, shown through the real SDK on any emulator. */
export interface Behaviour {
  /**
   * With other names than every other behaviour's, and a routing key of their own. On Microsoft's emulator all
   * behaviours share one topic, because it allows only 50 queues and topics.
   */
  readonly consumers: Readonly<Record<string, object>>;
  readonly target?: Partial<ServicebusTargetInput>;
  /** Queues that forward one to the next, between the subscription and the work queue. */
  readonly relays?: readonly string[];
  readonly run: (system: RunningSystem, expect: ExpectStatic) => Promise<void>;
}

/** A consumer of the messages with its name as their subject. */
export function consumerOf(name: string, declared: object): Readonly<Record<string, object>> {
  return { [name]: { from: { orders: [name] }, handlerTimeout: "10s", ...declared } };
}

export const atOnce = { retry: { attempts: 3, backoff: { kind: "immediate" } } };
/** 1 s, then 2 s, in copies that the consumer schedules; two crashes are allowed. */
export const scheduled = {
  retry: { attempts: 3, backoff: { kind: "exponential", first: "1s", factor: 2 } },
  crash: { deliveries: 2 },
};
/** A lock that a test can wait for, and that survives some seconds of standstill. */
export const soon = { lock: "10s" } as const;

export const always =
  (decision: Decision): (() => Decision) =>
  () =>
    decision;

/** The milliseconds from the end of each run of the handler to the next delivery. */
export function delaysOf({ seen }: DrivenConsumer): number[] {
  return seen.slice(1).map(({ receivedAtMs }, index) => receivedAtMs - (seen[index]?.settledAtMs ?? 0));
}

export function attemptsOf({ seen }: DrivenConsumer, wanted?: string): number[] {
  return seen.filter(({ body }) => wanted === undefined || body === wanted).map(({ attempt }) => attempt);
}

export async function isDead(system: RunningSystem, consumer: string, letters = 1): Promise<boolean> {
  return (await system.letters(consumer)).length === letters;
}

/** True if no message is left that a consumer could ever receive, scheduled or not. */
export async function isEmpty(system: RunningSystem, ...consumers: readonly string[]): Promise<boolean> {
  const left = await Promise.all(consumers.map(async (each) => system.peek(system.contract(each).workQueue)));
  return left.every((messages) => messages.length === 0);
}
