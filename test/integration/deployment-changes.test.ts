import { describe, expect, inject, test } from "vitest";

import { changeCases } from "../support/change/cases.ts";
import type { ChangeCase } from "../support/change/cases.ts";
import { modelledEngine, pulumiEngine } from "../support/change/engines.ts";
import { fill } from "../support/change/live-change.ts";
import type { Broker } from "../support/live.ts";
import { createVhost } from "../support/live.ts";
import { hasPulumiCli } from "../support/pulumi-cli.ts";

// Messages wait in every place, publishers publish, somebody else is bound to the source, and a person changes the deployment. In the end
// consumers fail every attempt: each message has to be in the dead queue of its consumer, once, and nowhere else.

const how = hasPulumiCli ? "pulumi up" : "the model of Pulumi's engine (there is no pulumi on PATH)";
console.log(`[deployment-changes] what runs: ${how}`);
// Messages have to wait for longer than an update takes.
const delay = hasPulumiCli ? "12s" : "1s";
const perQueue = hasPulumiCli ? 500 : 100;

describe.each(inject("brokers"))("on RabbitMQ $fullVersion", (broker) => {
  const names = changeCases(broker.version, "", "other", delay).map(({ name }) => name);
  test.concurrent.each(names)("%s", { timeout: 400_000 }, async (name) => {
    const [own, other] = [await createVhost(broker), await createVhost(broker)];
    try {
      const cases = changeCases(broker.version, own.vhost, other.vhost, delay);
      await play(broker, cases.find((each) => each.name === name) as ChangeCase);
    } finally {
      await Promise.all([own.dispose(), other.dispose()]);
    }
  });
});

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
