import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ServiceBusAdministrationClient } from "@azure/service-bus";
import { createClient, peekAll, startLab } from "@redeliver/servicebus-emulator";
import { describe, expect, test, vi } from "vitest";

import { run } from "../../src/cli/run.ts";
import { parseText } from "../../src/declare/parse.ts";
import { checked } from "../support/examples.ts";
import { inTurn } from "../support/in-turn.ts";
import { adoptedShapes } from "../support/servicebus/adopted-shapes.ts";
import { applyToEmulator } from "../support/servicebus/apply.ts";
import type { ArmEntity } from "../support/servicebus/arm-template.ts";
import { drive } from "../support/servicebus/drive.ts";
import { compileServicebus, registerServicebus, type ServicebusTargetInput } from "../support/servicebus/register.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Entities that Redeliver did not make, with messages in them. Each shape is adopted, and the compiled declaration is
// deployed over it. Then consumers take every message.

const folder = temporaryFolder("servicebus-adopt");

const each = 4;

/** A name as Service Bus has it. */
const withSlash = (name: string): string => name.replace("~", "/");

async function create(administration: ServiceBusAdministrationClient, entities: readonly ArmEntity[]): Promise<void> {
  for (const [kind, path, properties = {}] of entities) {
    const [first = "", second = "", third = ""] = path.split("/").map(withSlash);
    if (kind === "queues") await administration.createQueue(first, properties);
    if (kind === "topics") await administration.createTopic(first, properties);
    if (kind === "subscriptions") await administration.createSubscription(first, second, properties);
    if (kind !== "rules" || third === "$Default") continue;
    const { sqlFilter, correlationFilter } = properties as {
      sqlFilter?: { sqlExpression: string };
      correlationFilter?: { label: string };
    };
    await administration.deleteRule(first, second, "$Default");
    await administration.createRule(first, second, third, sqlFilter ?? { subject: correlationFilter?.label ?? "" });
  }
}

/** The names of queues, topics and subscriptions. */
async function namesIn(administration: ServiceBusAdministrationClient): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of administration.listQueues()) names.push(name);
  for await (const { name } of administration.listTopics()) {
    names.push(name);
    for await (const { subscriptionName } of administration.listSubscriptions(name))
      names.push(`${name}/${subscriptionName}`);
  }
  return names;
}

/** The emulator does not know the filters of NServiceBus. This one is no filter of Redeliver's, either. */
const sqlExpression = "sys.Label LIKE 'order.%'";
const knownToEmulator = ([kind, path, properties = {}]: ArmEntity): ArmEntity =>
  JSON.stringify(properties).includes("EnclosedMessageTypes")
    ? [kind, path, { sqlFilter: { sqlExpression } }]
    : [kind, path, properties];
const shapes = Object.entries(adoptedShapes).map(
  ([name, shape]) => [name, { ...shape, entities: shape.entities.map(knownToEmulator) }] as const,
);

describe("an adopted namespace", { timeout: 240_000 }, () => {
  test.for(shapes)("%s: every name stays, and no message is lost", async ([name, shape], { onTestFinished }) => {
    const { administration, emulator } = await startLab((end) => onTestFinished(end));
    await create(administration, shape.entities);
    const before = await namesIn(administration);
    const { connectionString, managementConnectionString } = emulator;
    const client = createClient({ connectionString });
    onTestFinished(async () => client.close());
    const bodies: string[] = [];
    const send = async (entity: string, made: (index: number) => string): Promise<void> => {
      for (let index = 0; index < each; index++) {
        bodies.push(made(index));
        const message = { body: made(index), messageId: made(index), subject: "order.placed", sessionId: made(index) };
        await client.createSender(entity).sendMessages(message);
      }
    };
    for (const [kind, path] of shape.entities) {
      if (kind === "queues") await send(path, (index) => `${path} ${index}`);
      const isTaken = shape.entities.some(([other, own]) => other === "subscriptions" && own.startsWith(`${path}/`));
      if (kind === "topics" && isTaken) await send(withSlash(path), (index) => `${path} ${index}`);
    }

    vi.stubEnv("SERVICEBUS_CONNECTION_STRING", managementConnectionString);
    const host = /Endpoint=sb:\/\/([^/;]*)/.exec(managementConnectionString)?.[1] ?? "";
    const output = join(folder, `${name.replaceAll(/\W/g, "-")}.yaml`);
    const words = ["adopt", "--url", `servicebus:${host}`, "--name", "shop", "--output", output];
    expect(await run(words)).toBe(0);
    const parsed = parseText(readFileSync(output, "utf8"), "yaml");
    const system = checked(parsed.ok ? parsed.value : null);
    const target = { broker: "servicebus", sku: "standard", ...shape.options } as ServicebusTargetInput;
    const compiled = compileServicebus(system, target);
    const { resources } = await inTurn(async () => registerServicebus(system, target));
    await applyToEmulator(administration, resources);
    expect(await namesIn(administration)).toEqual(expect.arrayContaining([...before]));
    expect(compiled.contracts.map(({ workQueue }) => workQueue)).toEqual(
      Object.values(shape.consumers).map(([, , queue]) => queue),
    );

    const late = Object.keys(system.sources ?? {});
    for (const topic of late) await send(topic, (index) => `late ${topic} ${index}`);
    const found: string[] = [];
    const untaken = bodies.filter((body) => shape.left?.includes(body.split(" ")[0] ?? "")).length;
    let ended = 0;
    for (const contract of compiled.contracts) {
      const connect = (): ReturnType<typeof createClient> => {
        const own = createClient({ connectionString });
        onTestFinished(async () => own.close());
        return own;
      };
      const driven = drive({
        connect,
        contract,
        decide: ({ body, attempt }) => {
          const fails = /[13]$/.test(body);
          if (!fails || attempt === contract.attempts.length) ended++;
          if (fails) return "transient";
          found.push(body);
          return "success";
        },
      });
      await driven.pollUntil(() => ended === bodies.length - untaken, 200_000);
      for (const { body } of await peekAll({ connectionString }, contract.deadQueue)) found.push(String(body));
    }
    for (const queue of shape.left ?? [])
      for (const { body } of await peekAll({ connectionString }, queue)) found.push(String(body));
    expect(found.toSorted()).toEqual(bodies.toSorted());
  });
});
