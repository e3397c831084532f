import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { expect, test } from "vitest";

import { deployRabbitmq } from "../../src/brokers/rabbitmq/make/deploy.ts";
import shop from "../../stacks/shop.ts";
import { forAllAsync } from "../support/for-all.ts";
import { expectInOrder } from "../support/registration-order.ts";
import { type ProgramRun, runProgram, topologyOf } from "../support/pulumi.ts";

const names = [...new Set(topologyOf(shop, "4.3").policies.map(({ name }) => name))];

async function deploy(isNew: (name: string) => boolean): Promise<ProgramRun> {
  const run = await runProgram(() => {
    const parent = new pulumi.ComponentResource("test:index:System", "shop");
    const placement = { name: "shop", parent, namespace: "/", areImported: false, isNew: Promise.resolve(isNew) };
    deployRabbitmq(topologyOf(shop, "4.3"), placement);
  });
  expect(run.error).toBeUndefined();
  return run;
}

test("policies for new names come before every new queue and exchange, and the others after theirs", async () => {
  await forAllAsync(8, [fc.oneof(fc.constant(names), fc.subarray(names))], async (chosen) => {
    const fresh = new Set(chosen);
    const run = await deploy((name) => fresh.has(name));
    const { queues, exchanges, policies, bindings } = topologyOf(shop, "4.3");
    const of = (kind: string): typeof run.resources => run.resources.filter(({ type }) => type.endsWith(`:${kind}`));
    expect(of("Queue").length + of("Exchange").length + of("Policy").length + of("Binding").length).toBe(
      queues.length + exchanges.length + policies.length + bindings.length,
    );
    expectInOrder(run);
    const at = new Map(
      run.resources.map(({ type, inputs }, place) => [`${type.split(":").at(-1)} ${String(inputs["name"])}`, place]),
    );
    const place = (kind: string, name: unknown): number => at.get(`${kind} ${String(name)}`) ?? Number.NaN;
    const lastNew = Math.max(-1, ...chosen.map((name) => place("Policy", name)));
    for (const { name, applyTo } of policies) {
      const thing = place(applyTo === "exchanges" ? "Exchange" : "Queue", name);
      if (fresh.has(name)) expect(thing, name).toBeGreaterThan(lastNew);
      else expect(place("Policy", name), name).toBeGreaterThan(thing);
    }
    for (const [index, { type, inputs }] of run.resources.entries()) {
      if (!type.endsWith(":Binding")) continue;
      const kind = inputs["destinationType"] === "queue" ? "Queue" : "Exchange";
      expect(index).toBeGreaterThan(place("Exchange", inputs["source"]));
      expect(index).toBeGreaterThan(place(kind, inputs["destination"]));
      if (kind === "Queue") expect(index).toBeGreaterThan(place("Policy", inputs["destination"]));
    }
  });
});

test("a source leads into a new system only when all the rest of it is there", async () => {
  const { resources } = await deploy(() => true);
  const sources = new Set(
    topologyOf(shop, "4.3").exchanges.flatMap(({ name, role }) => (role === "source" ? [name] : [])),
  );
  const isEntry = ({ type, inputs }: (typeof resources)[number]): boolean =>
    type.endsWith(":Binding") && sources.has(String(inputs["source"]));
  const first = resources.findIndex(isEntry);
  expect(resources.slice(first).filter((each) => !isEntry(each) && !each.type.endsWith(":Binding"))).toEqual([]);
});
