import { expect } from "vitest";

import type { Contract } from "../../src/index.ts";
import { type DeployedSystem, deploy, until } from "./deployed-system.ts";
import { operationsOf } from "./decide.ts";
import { type Broker, brokers } from "./live.ts";
import { speaksAmqp091, strategiesOn, type Strategy } from "./strategies.ts";

/** A broker of this run with one of its strategies. */
export interface SnippetCase {
  readonly broker: Broker;
  readonly strategy: Strategy;
  readonly name: string;
}

/** Every strategy of AMQP 0-9-1. */
export function snippetCases(): readonly SnippetCase[] {
  return brokers().flatMap((broker) =>
    strategiesOn(broker.version)
      .filter(speaksAmqp091)
      .map((strategy) => ({ broker, strategy, name: `${strategy} on ${broker.version}` })),
  );
}

/** One run of a snippet's handler, as the snippet's process reports it. */
export interface SnippetRun {
  readonly id: string;
  readonly attempt: number;
  /** In seconds, by the clock of the machine. */
  readonly beganAt: number;
}

/**
 * The actions of a handler on a message, run after run. A number is a requested delay in seconds. After the list it
 * succeeds.
 */
export type Plan = readonly (string | number)[];

interface Course {
  readonly plan: Plan;
  readonly attempts: readonly number[];
}

/** The plans for every snippet, with the expected attempts. */
const courses: Readonly<Record<string, Course>> = {
  "success at once": { plan: [], attempts: [1] },
  "success on attempt 3": { plan: ["transient", "transient"], attempts: [1, 2, 3] },
  "always transient": { plan: Array<string>(6).fill("transient"), attempts: [1, 2, 3, 4] },
  permanent: { plan: ["permanent"], attempts: [1] },
  "permanent after a failure": { plan: ["transient", "permanent"], attempts: [1, 2] },
  // A returned message was not tried.
  "handed back": { plan: ["return", "transient"], attempts: [1, 1, 2] },
};
const asking: typeof courses = { "asked for 600 ms": { plan: [0.6], attempts: [1, 2] } };
const dying = ["always transient", "permanent", "permanent after a failure"];

/** Deploys the one consumer, `billing`, that the courses are for. */
export async function deployForSnippet({ broker, strategy }: SnippetCase): Promise<DeployedSystem> {
  const backoffs = {
    native: { kind: "constant", delay: "200ms" },
    staged: { kind: "steps", delays: ["200ms", "400ms", "700ms"] },
    waits: { kind: "exponential", first: "200ms", factor: 2, max: "700ms", jitter: "50%" },
    deferred: { kind: "exponential", first: "200ms", factor: 2, max: "700ms", jitter: "50%" },
  };
  const backoff = backoffs[strategy];
  const retryAfter = strategy === "waits" || strategy === "deferred" ? { retryAfter: { max: "1s" } } : {};
  const billing = {
    from: { orders: ["order.*"] },
    protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
    retry: { attempts: 4, backoff, ...retryAfter },
    errors: { permanent: ["ValidationError"] },
  };
  const declared = { name: "shop", sources: { orders: { kind: "topic" } }, consumers: { billing } };
  return deploy(broker, declared, strategy);
}

/** A running snippet, from the test's side. */
interface Driven {
  readonly system: DeployedSystem;
  /** A body that gives the handler its id and its plan. */
  readonly bodyOf: (id: string, plan: Plan) => string;
  readonly runs: () => readonly SnippetRun[];
  /** The output to show if it makes no progress. */
  readonly log: () => string;
}

/** Publishes a message with every possible property. */
export async function publishPlan({ channel }: DeployedSystem, id: string, body: string): Promise<void> {
  channel.publish("shop.orders", "order.placed", Buffer.from(body), {
    messageId: id,
    contentType: "application/json",
    correlationId: "c-1",
    persistent: true,
    // In the dead queue it would delete the dead letter, so a copy must not have it.
    expiration: "3600000",
    headers: { tenant: "a", nested: { deep: [1, true] } },
  });
  await channel.waitForConfirms();
}

/** Drives a snippet through all courses: attempts, delays, and dead letters with all their properties. */
export async function expectContractKept({ system, bodyOf, runs, log }: Driven): Promise<void> {
  const contract = system.contract("billing");
  const wanted = { ...courses, ...(contract.retryAfter === undefined ? {} : asking) };
  const ids = Object.keys(wanted);
  for (const [id, { plan }] of Object.entries(wanted)) await publishPlan(system, id, bodyOf(id, plan));
  const runsOf = (id: string): readonly SnippetRun[] => runs().filter((run) => run.id === id);
  const dead = new Map<string, Awaited<ReturnType<typeof system.drain>>[number]>();
  try {
    await until(90_000, async () => {
      for (const message of await system.drain("shop.billing.dead"))
        dead.set(String(message.properties.messageId), message);
      return dead.size >= 3 && ids.every((id) => runsOf(id).length >= (wanted[id]?.attempts.length ?? 0));
    });
  } catch (cause) {
    throw new Error(`${log()}\n${JSON.stringify(runs())}`, { cause });
  }
  const attempts = Object.fromEntries(ids.map((id) => [id, runsOf(id).map(({ attempt }) => attempt)]));
  expect(attempts).toEqual(Object.fromEntries(ids.map((id) => [id, wanted[id]?.attempts])));
  expectDelaysKept(contract, runsOf);

  const reason = reasonsOn(contract);
  expect([...dead.keys()].toSorted()).toEqual(dying);
  for (const id of dying) {
    const { content, properties } = dead.get(id) ?? {};
    expect(String(content)).toBe(bodyOf(id, wanted[id]?.plan ?? []));
    expect(properties).toMatchObject({ contentType: "application/json", correlationId: "c-1", deliveryMode: 2 });
    const own = { tenant: "a", nested: { deep: [1, true] } };
    expect(properties?.headers).toMatchObject(id === "always transient" ? own : { ...own, ...reason });
    if (id !== "always transient") expect(properties?.expiration).toBeUndefined();
  }
}

/**
 * The reasons on the letter of a permanent failure: headers on a copy, annotations if the outcome carries them,
 * otherwise none.
 */
function reasonsOn(contract: Contract): Readonly<Record<string, string>> {
  const isCopied = publishesPermanent(contract);
  expect(isCopied).toBe(contract.strategy === "staged" || contract.strategy === "waits");
  if (contract.strategy === "native") return {};
  const prefix = isCopied ? "dlq-" : "x-opt-dlq-";
  return { [`${prefix}original-queue`]: "shop.billing", [`${prefix}failure-reason`]: "PERMANENT_FAILURE" };
}

const waiting = ["waits behind it", "waits behind that"];

/** Makes a snippet run a slow handler, with messages that wait behind it. The plan `slow` takes 1.5 s. */
export async function beginSlowly({ system, bodyOf, runs }: Driven): Promise<void> {
  await publishPlan(system, "slow", bodyOf("slow", ["slow"]));
  await until(90_000, () => runs().some(({ id }) => id === "slow"));
  for (const id of waiting) await publishPlan(system, id, bodyOf(id, []));
}

/** After a shutdown that began during a slow run: the run has finished, and the messages behind it are unchanged. */
export async function expectNothingLostByShutdown({ system, runs }: Driven): Promise<void> {
  const ran = runs().map(({ id }) => id);
  expect(ran.filter((id) => id === "slow")).toEqual(["slow"]);
  const left = await system.drain("shop.billing");
  expect(left.map(({ properties }) => properties.messageId)).toEqual(waiting.filter((id) => !ran.includes(id)));
  // These returns are neither failures nor crashes, so 4.3 counts none. Up to 4.2 every return of a buffered message
  // costs crash budget.
  const isFree = system.contract("billing").target === "rabbitmq@4.3";
  for (const { properties } of left) {
    if (isFree) expect(properties.headers?.["x-delivery-count"] ?? 0).toBe(0);
    expect(properties.headers).not.toHaveProperty("x-death");
  }
}

function expectDelaysKept(contract: Contract, runsOf: (id: string) => readonly SnippetRun[]): void {
  const always = runsOf("always transient");
  always.slice(1).forEach(({ beganAt }, index) => {
    const delayMs = contract.attempts[index + 1]?.delayMs ?? 0;
    expect(elapsedMs(always[index]?.beganAt, beganAt)).toBeGreaterThanOrEqual(delayMs);
  });
  if (contract.retryAfter === undefined) return;
  const [first, second] = runsOf("asked for 600 ms");
  expect(elapsedMs(first?.beganAt, second?.beganAt)).toBeGreaterThanOrEqual(600);
}

/**
 * As floating-point numbers, seconds since 1970 have a precision of a quarter of a microsecond. Smaller parts are
 * noise.
 */
function elapsedMs(from = 0, to = 0): number {
  return Math.round((to - from) * 1_000_000) / 1_000;
}

/** True if the consumer publishes a copy for a permanent failure. */
export function publishesPermanent(contract: Contract): boolean {
  return operationsOf(contract.outcomes.permanent, 1).some(({ operation }) => operation === "basic.publish");
}

/**
 * The broker has no queue for a copy. The message is not acknowledged, comes back, and dies when the queue exists
 * again.
 */
export async function expectCopyRetried({ system, bodyOf, runs, log }: Driven): Promise<void> {
  const dead = "shop.billing.dead";
  const id = "permanent, and no dead queue";
  const endings = Array<string>(9).fill("permanent");
  await system.channel.unbindQueue(dead, "shop.dead", "shop.billing");
  await publishPlan(system, id, bodyOf(id, endings));
  const runsOfIt = (): number => runs().filter((run) => run.id === id).length;
  try {
    // The second run shows that the broker refused the first one's copy.
    await until(90_000, () => runsOfIt() >= 2);
    await system.channel.bindQueue(dead, "shop.dead", "shop.billing");
    const letters: string[] = [];
    await until(90_000, async () => {
      letters.push(...(await system.drain(dead)).map(({ properties }) => String(properties.messageId)));
      return letters.length > 0;
    });
    expect(letters).toEqual([id]);
  } catch (cause) {
    throw new Error(`${log()}\n${JSON.stringify(runs())}`, { cause });
  }
}
