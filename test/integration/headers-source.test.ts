import { consume } from "redeliver/consume";
import { expect, onTestFinished, test } from "vitest";

import { deploy, until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { checked } from "../support/examples.ts";
import { brokers } from "../support/live.ts";
import { createManagement } from "../support/management.ts";
import { strategiesOn, withQueues } from "../support/strategies.ts";

// Another team's headers exchange. Each consumer matches in its own way, and retries reach nobody else.

const exchange = "files";
const wanted = { type: "invoice", region: "eu" };
const taken = {
  whole: "all",
  every: { match: "all", headers: wanted },
  some: { match: "any", headers: wanted },
  "every-x": { match: "all-with-x", headers: { type: "invoice", "x-team": "red" } },
  "some-x": { match: "any-with-x", headers: { type: "invoice", "x-team": "red" } },
  number: { match: "all", headers: { version: 1 } },
  fraction: { match: "all", headers: { version: 1.5 } },
  text: { match: "all", headers: { version: "1" } },
  boolean: { match: "any", headers: { urgent: true } },
  several: [
    { match: "all", headers: { version: 1 } },
    { match: "all", headers: { version: "1" } },
    { match: "all-with-x", headers: { "x-team": "red", urgent: true } },
  ],
} as const;
type Name = keyof typeof taken;

const messages: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  none: {},
  type: { type: "invoice" },
  "other-type": { type: "order", region: "us" },
  both: { type: "invoice", region: "eu" },
  team: { "x-team": "red" },
  "type-and-team": { type: "invoice", "x-team": "red" },
  one: { version: 1 },
  "one-of-64-bits": { version: { "!": "int64", value: 1 } },
  "one-as-double": { version: { "!": "double", value: 1 } },
  "one-as-text": { version: "1" },
  "one-and-a-half": { version: 1.5 },
  "urgent-as-text": { urgent: "true" },
  "urgent-and-team": { urgent: true, "x-team": "red" },
};
const expected: Readonly<Record<Name, readonly string[]>> = {
  whole: Object.keys(messages),
  every: ["both"],
  some: ["type", "both", "type-and-team"],
  "every-x": ["type-and-team"],
  "some-x": ["type", "both", "team", "type-and-team", "urgent-and-team"],
  number: ["one", "one-of-64-bits"],
  fraction: ["one-and-a-half"],
  text: ["one-as-text"],
  boolean: ["urgent-and-team"],
  // A message that fits several of the matches comes once.
  several: ["one", "one-of-64-bits", "one-as-text", "urgent-and-team"],
};

/** Up to 3.12 a whole number also equals one with a fraction part of zero. */
function expectedOf(name: Name, version: string): readonly string[] {
  const isEqual = version === "3.10" && (name === "number" || name === "several");
  return isEqual ? [...expected[name], "one-as-double"] : expected[name];
}

test.for(brokers())(
  "each consumer gets the messages whose headers match, and nobody else's retries: $version",
  async (broker) => {
    const strategy = strategiesOn(broker.version).includes("native") ? "native" : withQueues(broker.version);
    const retry = { attempts: 2, backoff: { kind: "constant", delay: "200ms" } };
    const declared = {
      name: "shop",
      sources: { files: { kind: "headers", name: exchange, owner: "other" } },
      consumers: Object.fromEntries(
        Object.entries(taken).map(([name, from]) => [name, { from: { files: from }, retry }]),
      ),
    };
    const management = createManagement(broker.managementUrl);
    const system = await deploy(broker, declared, strategy, async (vhost) => {
      await management.declareExchange(vhost, exchange, {
        type: "headers",
        durable: true,
        auto_delete: false,
        arguments: {},
      });
    });
    onTestFinished(system.dispose);
    const target = { broker: "rabbitmq", version: broker.version, strategy } as const;
    for (const more of [{}, { managementUrl: broker.managementUrl }]) {
      const connection = { url: system.url, ...more };
      await (await consume(checked(declared), "every", { target, connection }, () => {})).stop();
    }
    for (const [messageId, headers] of Object.entries(messages))
      system.channel.publish(exchange, "any.key", Buffer.from("{}"), { messageId, headers, persistent: true });
    await system.channel.waitForConfirms();
    for (const name of Object.keys(expected) as Name[]) {
      const ids = expectedOf(name, broker.version);
      const contract = system.contract(name);
      const driver = await drive({ url: system.url, contract, decide: () => "transient" });
      onTestFinished(driver.stop);
      const letters: string[] = [];
      await until(60_000, async () => {
        for (const { properties } of await system.drain(`shop.${name}.dead`))
          letters.push(String(properties.messageId));
        return letters.length >= ids.length;
      });
      expect(letters.toSorted(), name).toEqual(ids.toSorted());
      for (const id of ids)
        expect(
          driver.seen.filter((each) => each.id === id).map(({ attempt }) => attempt),
          name,
        ).toEqual([1, 2]);
      expect(driver.seen.length, name).toBe(2 * ids.length);
    }
  },
);
