import { expect } from "vitest";

import type { SnippetRun } from "../snippet-course.ts";
import { attributes, type DeployedSystem, textsOf } from "./deployed-system.ts";
import { sleep } from "./lab.ts";

const retry = { attempts: 3, backoff: { kind: "steps", delays: ["1s", "2s"] }, retryAfter: { max: "5s" } };
const errors = { permanent: ["ValidationError"] };

/** The consumers for snippets: one on a standard queue, and one in order. */
export const declarations = {
  billing: { from: { orders: "all" }, retry, handlerTimeout: "10s", errors },
  /** With an immediate attempt, which a Lambda function can keep, too. */
  ledger: {
    from: { orders: "all" },
    retry: { attempts: 3, backoff: { kind: "immediate" } },
    handlerTimeout: "10s",
    errors,
    order: "per-key",
  },
};

type Plan = readonly (string | number)[];

/** The end of each handler run, one after the other. A number is a requested delay in seconds. */
const plans: Readonly<Record<string, Plan>> = {
  "success at once": [],
  "success on attempt 2": ["transient"],
  "always transient": Array<string>(5).fill("transient"),
  permanent: ["permanent"],
  "asked for 3 s": [3.0],
};

/** A running snippet, from the test's side. */
export interface Driven {
  readonly system: DeployedSystem;
  readonly consumer: keyof typeof declarations;
  /** A body that gives the handler its id and its plan. */
  readonly bodyOf: (id: string, plan: Plan) => string;
  readonly runs: () => readonly SnippetRun[];
  /** The output to show if it makes no progress. */
  readonly log: () => string;
}

/** Each message in a group of its own, so that none waits for another. The name of a group has no spaces. */
function groupOf(id: string): string {
  return `group-of-${id.replaceAll(" ", "-")}`;
}

async function send({ system, consumer, bodyOf }: Driven, id: string, plan: Plan): Promise<void> {
  await system.lab.send(system.work(consumer), bodyOf(id, plan), {
    MessageAttributes: {
      ...attributes({ "routing-key": "order.placed", tenant: "a" }),
      blob: { DataType: "Binary", BinaryValue: new Uint8Array([0, 255, 7]) },
    },
    ...(consumer === "ledger" ? { MessageGroupId: groupOf(id), MessageDeduplicationId: groupOf(id) } : {}),
  });
}

async function until({ log, runs }: Driven, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${log()}\n${JSON.stringify(runs())}`);
    await sleep(100);
  }
}

/** Drives a snippet through all plans: attempts, delays, and dead letters with all their properties. */
export async function expectContractKept(driven: Driven): Promise<void> {
  const { system, consumer, bodyOf, runs } = driven;
  const { lab } = system;
  const fifo = consumer === "ledger";
  const wanted = Object.entries(plans).filter(([id]) => !(fifo && id.startsWith("asked")));
  for (const [id, plan] of wanted) await send(driven, id, plan);
  await until(driven, async () => {
    const [left, dead] = [await lab.count(system.work(consumer)), await lab.count(system.dead(consumer))];
    return left === 0 && dead === 2;
  });

  const attemptsOf = (id: string): number[] => runs().flatMap((run) => (run.id === id ? [run.attempt] : []));
  expect(Object.fromEntries(wanted.map(([id]) => [id, attemptsOf(id)]))).toEqual({
    "success at once": [1],
    "success on attempt 2": [1, 2],
    "always transient": [1, 2, 3],
    permanent: [1],
    ...(fifo ? {} : { "asked for 3 s": [1, 2] }),
  });
  const begun = (id: string): number[] => runs().flatMap((run) => (run.id === id ? [run.beganAt] : []));
  const waits = fifo ? [0, 0] : [1, 2];
  const always = begun("always transient");
  // The emulators count milliseconds where AWS counts seconds, and they round the beginning down.
  for (const [index, seconds] of waits.entries())
    expect((always[index + 1] ?? 0) - (always[index] ?? 0)).toBeGreaterThanOrEqual(seconds - 0.05);
  if (!fifo) {
    const [first = 0, second = 0] = begun("asked for 3 s");
    expect(second - first).toBeGreaterThanOrEqual(2.95);
  }

  const letters = await lab.receive(system.dead(consumer), { max: 10, waitSeconds: 1 });
  const letter = letters.find(({ Body }) => Body === bodyOf("permanent", ["permanent"]));
  expect(letter?.MessageAttributes?.["blob"]?.BinaryValue).toEqual(new Uint8Array([0, 255, 7]));
  expect(textsOf(letter?.MessageAttributes)).toMatchObject({
    "routing-key": "order.placed",
    tenant: "a",
    "dlq-original-queue": system.contract(consumer).workQueue,
    "dlq-failure-reason": "PERMANENT_FAILURE",
  });
  if (fifo) expect(letter?.Attributes?.["MessageGroupId"]).toBe(groupOf("permanent"));
}

const behind = "waits behind it";

/** Makes a snippet run a slow handler, with a message that waits behind it. */
export async function beginSlowly(driven: Driven): Promise<void> {
  await send(driven, "slow", ["slow"]);
  await until(driven, async () => driven.runs().some(({ id }) => id === "slow"));
  await send(driven, behind, []);
}

/** After a shutdown that began during a slow run: the run has finished, and the waiting message has lost no receive. */
export async function expectNothingLostByShutdown({ system, consumer, bodyOf, runs }: Driven): Promise<void> {
  const ran = runs().map(({ id }) => id);
  expect(ran.filter((id) => id === "slow")).toEqual(["slow"]);
  const left = await system.lab.receive(system.work(consumer), { max: 10, waitSeconds: 1 });
  expect(left.map(({ Body, Attributes }) => [Body, Attributes?.["ApproximateReceiveCount"]])).toEqual(
    ran.includes(behind) ? [] : [[bodyOf(behind, []), "1"]],
  );
}
