import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";

import { checkSystem, type System } from "../../src/index.ts";

import { type ChangeCase, changeCases } from "../support/change/cases.ts";
import { anyDeployment, edited, topologyOf } from "../support/change/deployments.ts";
import { modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import { fill } from "../support/change/live-change.ts";
import type { Deployment } from "../support/change/registered.ts";
import { type Broker, createVhost } from "../support/live.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

// Messages wait in every place, publishers publish, a foreign queue is bound to the source, and an operator changes the
// deployment. In the end consumers fail every attempt. Each message must then be in its consumer's dead queue, once,
// and nowhere else.

const how = hasPulumiCli ? "pulumi up" : "the model of Pulumi's engine (there is no pulumi on PATH)";
console.log(`[deployment-changes] what runs: ${how}`);
// Messages must wait longer than an update takes.
const delay = hasPulumiCli ? "12s" : "1s";
const edits = [
  "strategy",
  "attempts",
  "retry",
  "a consumer more",
  "a consumer less",
  "name of a consumer",
  "name of the system",
  "component",
  "kind of a source",
];
/** `REDELIVER_MESSAGES=2000` takes half an hour without the engine, and longer with it. */
const perQueue = Number(process.env["REDELIVER_MESSAGES"] ?? (hasPulumiCli ? 500 : 100));

describe.each(inject("brokers"))("on RabbitMQ $fullVersion", (broker) => {
  const names = changeCases(broker.version, "", "other", delay).map(({ name }) => name);
  test.concurrent.each(names)("%s", { timeout: 1_800_000 }, async (name) => {
    const [own, other] = [await createVhost(broker), await createVhost(broker)];
    try {
      const cases = changeCases(broker.version, own.vhost, other.vhost, delay);
      await play(broker, cases.find((each) => each.name === name) as ChangeCase);
    } finally {
      await Promise.all([own.dispose(), other.dispose()]);
    }
  });
});

// Also changes random systems in one point, through the model. A refused change must leave everything as it was.
const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const drawn = fc.sample(fc.record({ first: anyDeployment, other: anyDeployment, edit: fc.constantFrom(...edits) }), {
  seed,
  numRuns: 200,
});

describe.each(inject("brokers"))(`random systems on RabbitMQ $fullVersion, seed ${seed}`, (broker) => {
  const pairs = drawn.flatMap(({ first, other, edit }) => {
    const before = onBroker(first, broker, "");
    const after = before === null ? null : edited(before, edit, other);
    return before === null || after === null || onBroker(after, broker, "") === null ? [] : [{ edit, before, after }];
  });
  test.concurrent.each(pairs.slice(0, 4))("$edit", { timeout: 600_000 }, async ({ before, after }) => {
    const { vhost, dispose } = await createVhost(broker);
    const engine = await modelledEngine(broker);
    try {
      const [old, now] = [onBroker(before, broker, vhost), onBroker(after, broker, vhost)] as [Deployment, Deployment];
      expect(await engine.up(old, { skipPreview: true })).toBeNull();
      const waiting = await fill(broker, old, 50);
      await engine.unprotect();
      const error = await engine.up(now, { skipPreview: true });
      await waiting.publish();
      expect(await waiting.unsettled(error === null ? now : old, [old, now])).toEqual([]);
      await waiting.dispose();
    } finally {
      await engine.dispose();
      await dispose();
    }
  });
});

/**
 * The same deployment for this broker and virtual host, where all consumers take the published message. Null if it does
 * not compile.
 */
function onBroker(deployment: Deployment, broker: Broker, vhost: string): Deployment | null {
  const { system } = deployment;
  const consumers = Object.entries(system.consumers).map(([name, own]) => [
    name,
    { ...own, from: { orders: ["order.placed"] } },
  ]);
  const wanted = {
    ...system,
    sources: { orders: { kind: "topic" } },
    consumers: Object.fromEntries(consumers) as object,
  };
  const checkedSystem = checkSystem(JSON.parse(JSON.stringify(wanted)) as System);
  if (!checkedSystem.ok) return null;
  const changed = { ...deployment, vhost, version: broker.version, system: checkedSystem.value };
  return topologyOf(changed) === null ? null : changed;
}

async function play(broker: Broker, { before, steps }: ChangeCase): Promise<void> {
  const engine = await (hasPulumiCli ? pulumiEngine(broker) : modelledEngine(broker));
  try {
    expect(await engine.up(before, { skipPreview: true })).toBeNull();
    const waiting = await fill(broker, before, perQueue);
    let now = before;
    for (const { to, unprotect = false, refused, ...options } of steps) {
      if (unprotect) await engine.unprotect();
      const error = await (to === null ? engine.destroy(options) : engine.up(to, options));
      if (refused === null) expect(error).toBeNull();
      else expect(error).toMatch(refused);
      if (refused === null && to !== null && to.vhost === before.vhost) now = to;
      await waiting.publish();
    }
    expect(await waiting.unsettled(now, [before, ...steps.flatMap(({ to }) => to ?? [])])).toEqual([]);
    await waiting.dispose();
  } finally {
    await engine.dispose();
  }
}
