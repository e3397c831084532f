import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import type { System, TargetInput } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { type ProgramRun, type RegisteredResource, resourcesOf } from "../support/pulumi.ts";
import { before, expectInOrder } from "../support/registration-order.ts";
import { queueUrl } from "../support/sqs/assigned-by-aws.ts";
import { compileSqs, registerSqs } from "../support/sqs/register.ts";

const region = "eu-west-1";
const target = { broker: "sqs", region } as const;
const portable = checked(parse(readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8")));
const timed = { handlerTimeout: "10s", retry: { attempts: 3, backoff: { kind: "constant", delay: "5s" } } };
const withLambda = { ...target, lambda: { billing: { function: "billing", timeout: "30s" } } } as const;
const systems: readonly (readonly [string, System, TargetInput<"sqs">])[] = [
  ["standard queues", portable, withLambda],
  ["a shared dead queue", portable, { ...withLambda, deadQueue: "shared" }],
  ["FIFO queues", checked(oneConsumer({ ...timed, order: "per-key" })), target],
];

function only(run: ProgramRun, kind: string, key: string, value: unknown): RegisteredResource {
  const found = resourcesOf(run, kind).filter(({ inputs }) => inputs[key] === value);
  expect(found, `${kind} with ${key} ${String(value)}`).toHaveLength(1);
  return found[0] as RegisteredResource;
}

describe.each(systems)("%s", (_, system, target) => {
  test("no resource comes before one that it depends on", async () => {
    expectInOrder(await registerSqs(system, target));
  });

  test("each resource depends on the resources that it refers to, without a circle", async () => {
    const run = await registerSqs(system, target);
    const { topology } = compileSqs(system, target);
    const queueOf = (name: string): string => only(run, "Queue", "name", name).urn;
    const topicOf = (name: string): string => only(run, "Topic", "name", name).urn;
    for (const { name, redrive, redriveAllow, sendersTopics } of topology.queues) {
      const dead = redrive === null ? [] : [queueOf(redrive.deadQueue)];
      expect(only(run, "Queue", "name", name).dependencies).toEqual(dead);
      const policy = only(run, "QueuePolicy", "queueUrl", queueUrl(region, name));
      expect(policy.dependencies.toSorted()).toEqual([queueOf(name), ...sendersTopics.map(topicOf)].toSorted());
      const allow = only(run, "RedriveAllowPolicy", "queueUrl", queueUrl(region, name));
      const sources = redriveAllow.permission === "byQueue" ? redriveAllow.sourceQueues.map(queueOf) : [];
      expect(allow.dependencies.toSorted()).toEqual([queueOf(name), ...sources].toSorted());
    }
    for (const { name, queue } of topology.alarms) {
      expect(only(run, "MetricAlarm", "name", name).dependencies).toEqual([queueOf(queue)]);
    }
  });

  test("no message can come in before its consumer's whole way out exists", async () => {
    const run = await registerSqs(system, target);
    const { topology } = compileSqs(system, target);
    expect(topology.subscriptions.length).toBeGreaterThan(0);
    for (const { topic, queue, consumer } of topology.subscriptions) {
      const subscription = resourcesOf(run, "TopicSubscription").find(({ name }) => name === `shop-${topic}/${queue}`);
      if (subscription === undefined) throw new Error(`no subscription of ${queue} to ${topic}`);
      const there = before(run, subscription);
      for (const { name } of topology.queues.filter((each) => [consumer, null].includes(each.consumer))) {
        expect(there).toContain(only(run, "Queue", "name", name).urn);
        expect(there).toContain(only(run, "QueuePolicy", "queueUrl", queueUrl(region, name)).urn);
        expect(there).toContain(only(run, "RedriveAllowPolicy", "queueUrl", queueUrl(region, name)).urn);
      }
      expect(there).toContain(only(run, "Topic", "name", topic).urn);
      // No resource waits for the subscription, so Pulumi also deletes it first.
      expect(run.resources.filter(({ dependencies }) => dependencies.includes(subscription.urn))).toEqual([]);
    }
  });

  test("Lambda receives only after its consumer's whole way out exists", async () => {
    const run = await registerSqs(system, target);
    const { topology } = compileSqs(system, target);
    const mappings = resourcesOf(run, "EventSourceMapping");
    expect(mappings).toHaveLength(topology.mappings.length);
    for (const mapping of mappings) {
      const { consumer } = topology.mappings.find(({ queue }) => mapping.name === `shop-${queue}`) ?? {};
      const there = before(run, mapping);
      for (const { name } of topology.queues.filter((each) => [consumer, null].includes(each.consumer))) {
        expect(there).toContain(only(run, "Queue", "name", name).urn);
        expect(there).toContain(only(run, "QueuePolicy", "queueUrl", queueUrl(region, name)).urn);
      }
    }
  });

  test("no deployment deletes a message, or the policies of a queue that stays", async () => {
    const run = await registerSqs(system, target);
    const component = run.resources.find(({ type }) => type === "redeliver:sqs:RetryTopology")?.urn;
    const flags: Readonly<Record<string, object>> = {
      Queue: { protect: true, retainOnDelete: true },
      QueuePolicy: { protect: false, retainOnDelete: true },
      RedriveAllowPolicy: { protect: false, retainOnDelete: true },
      Topic: { protect: true, retainOnDelete: true },
      TopicSubscription: { protect: false, retainOnDelete: false },
      EventSourceMapping: { protect: false, retainOnDelete: false },
      MetricAlarm: { protect: false, retainOnDelete: false },
    };
    const queues = new Set(resourcesOf(run, "Queue").map(({ urn }) => urn));
    for (const [kind, wanted] of Object.entries(flags)) {
      for (const { parent, protect, retainOnDelete, deletedWith, deleteBeforeReplace } of resourcesOf(run, kind)) {
        expect({ parent, protect, retainOnDelete, deleteBeforeReplace }, kind).toEqual({
          parent: component,
          ...wanted,
          deleteBeforeReplace: false,
        });
        // A resource that Pulumi does not retain is deleted with its queue, so it names that queue.
        expect(queues.has(deletedWith ?? ""), kind).toBe(!("retainOnDelete" in wanted && wanted.retainOnDelete));
      }
    }
  });
});

test("logical names start with the component's name, are unique, and do not depend on other consumers", async () => {
  const namesOf = (run: ProgramRun): string[] =>
    run.resources.filter(({ type }) => type.startsWith("aws:")).map(({ type, name }) => `${type} ${name}`);
  const first = namesOf(await registerSqs(portable, target));
  const { billing, shipping } = portable.consumers;
  const consumers = { other: shipping, shipping, billing };
  const second = namesOf(await registerSqs(checked({ ...portable, consumers }), target));
  expect(first.filter((name) => !/^aws:\w+\/\w+:\w+ shop-shop-/.test(name))).toEqual([]);
  expect(new Set(first).size).toBe(first.length);
  expect(first.filter((name) => !second.includes(name))).toEqual([]);
});
