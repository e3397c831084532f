import { readFileSync } from "node:fs";

import type { ServiceBusAdministrationClient } from "@azure/service-bus";
import { startLab } from "@redeliver/servicebus-emulator";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { exportEmulatorConfig } from "../../src/brokers/servicebus/make/export.ts";
import { isoDuration } from "../../src/brokers/servicebus/compile/iso-duration.ts";
import type { ServicebusTopology } from "../../src/brokers/servicebus/compile/topology.ts";
import { brokers } from "../../src/index.ts";
import { verify } from "../../src/verify/verify.ts";
import { accepted, checked, oneConsumer } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { type RegisteredResource, runProgram, stackProgram } from "../support/pulumi.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import { withRelays } from "../support/servicebus/deploy-behaviour.ts";
import { type Listed, listEntities } from "../support/servicebus/list-entities.ts";
import {
  compileServicebus,
  namespaceId,
  registerServicebus,
  type ServicebusTargetInput,
} from "../support/servicebus/register.ts";

const standard = { broker: "servicebus", sku: "standard" } as const;
const portable = checked(parse(readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8")));
const timed = { handlerTimeout: "10s", deadLetter: { alarmAbove: 0 } };
const ordered = checked(
  oneConsumer({ ...timed, retry: { attempts: 3, backoff: { kind: "immediate" } }, order: "per-key" }),
);
const tiered = checked(oneConsumer({ ...timed, retry: { attempts: 3, backoff: { kind: "constant", delay: "10m" } } }));
const fromOne = checked(
  oneConsumer({
    ...timed,
    from: { orders: "all" },
    retry: { attempts: 3, backoff: { kind: "constant", delay: "10s" } },
  }),
);
const systems = [
  { name: "queues behind topics", system: portable, target: standard },
  { name: "sessions", system: ordered, target: standard },
  {
    name: "one dead queue, duplicate detection",
    system: portable,
    target: { ...standard, deadQueue: "shared", duplicates: "5m", lock: "30s" },
  },
  { name: "tiers", system: tiered, target: { ...standard, strategy: "ttl-tier" } },
  { name: "the basic tier", system: fromOne, target: { ...standard, sku: "basic" } },
] as const satisfies readonly { readonly target: ServicebusTargetInput; readonly [key: string]: unknown }[];

/** The listing that the management API must return for a topology: every setting of every entity. */
function listedOf({ queues, topics, subscriptions, target }: ServicebusTopology): Listed {
  const isBasic = target === "servicebus@basic";
  const receivable = (entity: ServicebusTopology["queues"][number] | ServicebusTopology["subscriptions"][number]) => ({
    lockDuration: isoDuration(entity.lockDurationMs),
    maxDeliveryCount: entity.maxDeliveryCount,
    defaultMessageTimeToLive: isoDuration(entity.timeToLiveMs),
    deadLetteringOnMessageExpiration: entity.deadLetterOnExpiration,
    requiresSession: entity.requiresSession,
    forwardTo: entity.forwardTo,
    forwardDeadLetteredMessagesTo: entity.forwardDeadLetteredTo,
    status: "Active",
    autoDeleteOnIdle: isBasic ? undefined : isoDuration(null),
  });
  const detection = (windowMs: number | null) => ({
    requiresDuplicateDetection: windowMs !== null,
    duplicateDetectionHistoryTimeWindow: isoDuration(windowMs ?? 600_000),
  });
  return {
    queues: Object.fromEntries(
      queues.map((queue) => [queue.name, { ...receivable(queue), ...detection(queue.duplicateDetectionMs) }]),
    ),
    topics: Object.fromEntries(
      topics.map(({ name, timeToLiveMs, duplicateDetectionMs }) => [
        name,
        { defaultMessageTimeToLive: isoDuration(timeToLiveMs), status: "Active", ...detection(duplicateDetectionMs) },
      ]),
    ),
    subscriptions: Object.fromEntries(
      subscriptions.map((subscription) => [
        `${subscription.topic}/${subscription.name}`,
        {
          ...receivable(subscription),
          deadLetteringOnFilterEvaluationExceptions: subscription.deadLetterOnFilterError,
          rules: Object.fromEntries(
            subscription.rules.map(({ name, filter }) => {
              if (filter.kind === "correlation") return [name, { subject: filter.subject }];
              const sql = { true: "1=1", false: "1=0", sql: "expression" in filter ? filter.expression : "" };
              return [name, { sqlExpression: sql[filter.kind] }];
            }),
          ),
        },
      ]),
    ),
  };
}

async function registered(system: typeof portable, target: ServicebusTargetInput): Promise<RegisteredResource[]> {
  return [...(await inTurn(async () => registerServicebus(system, target))).resources];
}

describe.concurrent.each(systems)("$name", ({ system, target }) => {
  test("the program makes exactly the entities of the topology, with every setting; a second run changes nothing", async (context) => {
    const { administration } = await startLab(context.onTestFinished, { sku: target.sku });
    const { topology } = compileServicebus(system, target);
    const resources = await registered(system, target);
    const leftOut = await applyToEmulator(administration, resources, target.sku);
    const before = await listEntities(administration);
    expect(before).toEqual(listedOf(topology));
    expect(leftOut.map((each) => each.split(": ")[1])).toEqual(
      topology.alerts.map(() => "the emulator has no Azure Monitor"),
    );
    await applyToEmulator(administration, resources, target.sku);
    expect(await listEntities(administration)).toEqual(before);
  });

  test("the configuration file of the official emulator describes the deployed entities", async (context) => {
    const { administration } = await startLab(context.onTestFinished, { sku: target.sku });
    const { topology } = compileServicebus(system, target);
    await applyToEmulator(administration, await registered(system, target), target.sku);
    const config = exportEmulatorConfig(topology);
    expect(config).toEqual(await configOf(administration));
  });
});

/** Returns the deployed entities in the words of the configuration file, which keeps messages for an hour at most. */
async function configOf(administration: ServiceBusAdministrationClient): Promise<object> {
  const { queues, topics, subscriptions } = await listEntities(administration);
  const timeToLive = (duration: unknown): unknown =>
    duration === isoDuration(null) || duration === "P14D" ? "PT1H" : duration;
  const receivable = (entity: Listed["queues"][string]): object => ({
    DeadLetteringOnMessageExpiration: entity["deadLetteringOnMessageExpiration"],
    DefaultMessageTimeToLive: timeToLive(entity["defaultMessageTimeToLive"]),
    ForwardDeadLetteredMessagesTo: entity["forwardDeadLetteredMessagesTo"] ?? "",
    ForwardTo: entity["forwardTo"] ?? "",
    LockDuration: entity["lockDuration"],
    MaxDeliveryCount: entity["maxDeliveryCount"],
    RequiresSession: entity["requiresSession"],
  });
  const detection = (entity: Listed["queues"][string]): object => ({
    RequiresDuplicateDetection: entity["requiresDuplicateDetection"],
    DuplicateDetectionHistoryTimeWindow:
      entity["requiresDuplicateDetection"] === true ? entity["duplicateDetectionHistoryTimeWindow"] : "PT5M",
  });
  const rule = (name: string, filter: Listed["subscriptions"][string]["rules"][string]): object => ({
    Name: name,
    Properties:
      "subject" in filter
        ? { FilterType: "Correlation", CorrelationFilter: { Label: filter.subject } }
        : { FilterType: "Sql", SqlFilter: { SqlExpression: filter.sqlExpression } },
  });
  const subscriptionsOf = (topic: string): object[] =>
    Object.entries(subscriptions)
      .filter(([path]) => path.startsWith(`${topic}/`))
      .map(([path, subscription]) => ({
        Name: path.slice(topic.length + 1),
        Properties: receivable(subscription),
        // A file may not name `$Default`. The emulator adds this rule, which accepts everything, where a subscription
        // has no other.
        Rules: Object.entries(subscription.rules)
          .filter(([name]) => name !== "$Default")
          .map(([name, filter]) => rule(name, filter)),
      }));
  const namespace = {
    Name: "sbemulatorns",
    Queues: Object.entries(queues).map(([Name, queue]) => ({
      Name,
      Properties: { ...receivable(queue), ...detection(queue) },
    })),
    Topics: Object.entries(topics).map(([Name, topic]) => ({
      Name,
      Properties: { DefaultMessageTimeToLive: timeToLive(topic["defaultMessageTimeToLive"]), ...detection(topic) },
      Subscriptions: subscriptionsOf(Name),
    })),
  };
  return { UserConfig: { Namespaces: [namespace], Logging: { Type: "Console" } } };
}

describe.concurrent("the stack program", () => {
  test("makes the compiled entities of the example, with a provider for the namespace's subscription", async (context) => {
    const { administration } = await startLab(context.onTestFinished);
    const config = { "redeliver:target": standard, "redeliver:namespaceId": namespaceId };
    const run = await inTurn(async () => runProgram(stackProgram, { config }));
    expect(run.error).toBeUndefined();
    await applyToEmulator(administration, run.resources);
    expect(await listEntities(administration)).toEqual(listedOf(compileServicebus(portable, standard).topology));
  });
});

describe.concurrent("programs that the test's provider refuses", () => {
  test("another input, another namespace, another order, a missing destination", async ({ onTestFinished }) => {
    const { administration } = await startLab(onTestFinished);
    const resources = await registered(portable, { ...standard, deadQueue: "shared" });
    const index = resources.findLastIndex(({ type }) => type === "azure-native:servicebus:Queue");
    const withInput = (input: object): RegisteredResource[] =>
      resources.map((each, at) => (at === index ? { ...each, inputs: { ...each.inputs, ...input } } : each));
    const applying = async (changed: readonly RegisteredResource[]): Promise<unknown> =>
      applyToEmulator(administration, changed);
    await expect(applying(withInput({ fairness: true }))).rejects.toThrow("unknown properties: fairness");
    await expect(applying(withInput({ maxDeliveryCount: "3" }))).rejects.toThrow("maxDeliveryCount is no number");
    await expect(applying(withInput({ namespaceName: "other" }))).rejects.toThrow("another namespace");
    await expect(applying(resources.toReversed())).rejects.toThrow("which it depends on");
    await expect(applying(withInput({ forwardDeadLetteredMessagesTo: "none" }))).rejects.toThrow("SubCode=40400");
  });
});

describe("a chain of forwarding", () => {
  const compiled = compileServicebus(fromOne, standard);

  test.each([
    [4, "proved"],
    [5, "refused"],
  ] as const)("of %i hops is %s", (hops, outcome) => {
    const relays = Array.from({ length: hops - 1 }, (_, index) => `relay-${index + 1}`);
    const target = accepted(brokers.servicebus.checkTarget(standard));
    const topology = withRelays(compiled.topology, relays);
    const [subject] = brokers.servicebus.subjectsOf({ ...compiled, topology }, target);
    const violations = subject === undefined ? [] : verify(subject.model()).violations;
    const properties = violations.map(({ property }) => property);
    expect(properties).toEqual(outcome === "proved" ? [] : expect.arrayContaining(["reachable"]));
  });
});
