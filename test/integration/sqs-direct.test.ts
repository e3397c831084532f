import { randomUUID } from "node:crypto";

import { describe, expect, test } from "vitest";

import { until } from "../support/deployed-system.ts";
import { consuming, type Handle, untilCount } from "../support/sqs/consuming.ts";
import { deploy, type DeployedSystem } from "../support/sqs/deployed-system.ts";
import { sqsEmulators } from "../support/sqs/live-emulators.ts";

// Producers send straight to the work queue, with `SendMessage`. There is no topic, no subscription and no queue of
// undelivered messages.

const common = { handlerTimeout: "2s", errors: { permanent: ["ValidationError"] } };
const declarations = {
  redrive: { ...common, retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } } },
  visibility: { ...common, retry: { attempts: 3, backoff: { kind: "linear", first: "1s" } } },
  "redrive, per key": {
    ...common,
    queue: `own_${randomUUID()}`,
    retry: { attempts: 3, backoff: { kind: "constant", delay: "1s" } },
    order: "per-key",
  },
} as const;

const failing: Handle = ({ body }) => {
  if (body === "fine") return;
  const name = body === "permanent" ? "ValidationError" : "Error";
  throw Object.assign(new Error("the bank is down"), { name });
};

async function send(system: DeployedSystem, ...bodies: readonly string[]): Promise<void> {
  const queue = system.work("billing");
  const isFifo = queue.name.endsWith(".fifo");
  for (const body of bodies)
    await system.lab.send(queue, body, isFifo ? { MessageGroupId: "customer-1", MessageDeduplicationId: body } : {});
}

describe.concurrent.each(sqsEmulators())("straight to the queue on $name $version", (emulator) => {
  test.for(Object.entries(declarations))("%s", async ([name, billing], { onTestFinished }) => {
    const strategy = name === "visibility" ? "visibility" : "redrive";
    const system = await deploy(emulator, { billing }, strategy);
    if ("queue" in billing) expect(system.work("billing").name).toBe(`${billing.queue}.fifo`);
    onTestFinished(system.dispose);
    // Nobody takes from the source of the other tests, so nothing leads from it into the queue.
    expect(system.compiled.topology.subscriptions).toEqual([]);
    expect(system.compiled.topology.queues.map(({ role }) => role)).toEqual(["dead", "work"]);
    const consumer = await consuming(system, "billing", failing);
    onTestFinished(async () => consumer.stop());
    await send(system, "transient", "permanent", "fine");
    await untilCount(system, "dead", "billing", 2);
    await untilCount(system, "work", "billing", 0);
    await until(60_000, () => consumer.attemptsOf("fine").length === 1);
    expect(consumer.attemptsOf("transient")).toEqual([1, 2, 3]);
    expect(consumer.attemptsOf("permanent")).toEqual([1]);
    expect(consumer.attemptsOf("fine")).toEqual([1]);
    const runs = consumer.runs.filter(({ body }) => body === "transient");
    const delays = strategy === "visibility" ? [1_000, 2_000] : [1_000, 1_000];
    for (const [index, delayMs] of delays.entries())
      expect((runs[index + 1]?.beganAtMs ?? 0) - (runs[index]?.endedAtMs ?? 0)).toBeGreaterThanOrEqual(delayMs);
    // Later messages of a group wait until the earlier one is dead.
    const order = consumer.runs.map(({ body, attempt }) => `${body} ${attempt}`);
    if (name.endsWith("per key"))
      expect(order).toEqual(["transient 1", "transient 2", "transient 3", "permanent 1", "fine 1"]);
  });

  const schemes = [
    { queue: "q-{consumer}-{system}" },
    { dead: "dlq-{queue}" },
    { source: "{source}-of-{system}" },
    { queue: "{consumer}_{system}", dead: "{system}-lost-{consumer}", source: "events-{system}-{source}" },
  ];
  test.for(schemes)("with the names %j, beside a source", async (names, { onTestFinished }) => {
    const billing = { ...declarations.redrive, from: { orders: "all" } };
    const system = await deploy(emulator, { billing }, "redrive", { kind: "topic" }, names);
    onTestFinished(system.dispose);
    const { name } = system.declared;
    const named = (template: string, queue = ""): string =>
      Object.entries({ system: name, consumer: "billing", source: "orders", queue }).reduce(
        (text, [word, value]) => text.replace(`{${word}}`, value),
        template,
      );
    const work = named(names.queue ?? "{system}-billing");
    const dead = named(names.dead ?? "{queue}-dead", work);
    expect([system.work("billing").name, system.dead("billing").name]).toEqual([work, dead]);
    const topic = named(names.source ?? "{system}-orders");
    expect(system.compiled.topology.topics.map((each) => each.name)).toEqual([topic]);
    const consumer = await consuming(system, "billing", failing);
    onTestFinished(async () => consumer.stop());
    // One emulator has queues alone.
    const arn = system.applied.topics.get(topic);
    expect(arn !== undefined).toBe(emulator.name !== "elasticmq");
    await (arn === undefined ? send(system, "transient") : system.lab.publish(arn, "transient"));
    await send(system, "permanent", "fine");
    await untilCount(system, "dead", "billing", 2);
    await until(60_000, () => consumer.attemptsOf("fine").length === 1);
    expect(["transient", "permanent"].map(consumer.attemptsOf)).toEqual([[1, 2, 3], [1]]);
  });
});
