import { expect, onTestFinished, test } from "vitest";

import { deploy, until } from "../support/deployed-system.ts";
import { drive } from "../support/drive.ts";
import { brokers } from "../support/live.ts";
import { speaksAmqp091, strategiesOn, type Strategy } from "../support/strategies.ts";

// Two consumers of one source have two strategies. They share the ways back, and the exchange for dead letters.

function pairsOf(strategies: readonly Strategy[]): readonly (readonly [Strategy, Strategy])[] {
  return strategies.flatMap((one, index) => strategies.slice(index + 1).map((other) => [one, other] as const));
}

const cases = brokers().flatMap((broker) => pairsOf(strategiesOn(broker.version)).map((pair) => ({ broker, pair })));

test.for(cases)("no retry of one consumer reaches the other: $pair on $broker.version", async ({ broker, pair }) => {
  const names = ["billing", "mail"];
  const consumerOf = (strategy: Strategy): object => ({
    from: { orders: "all" },
    retry: { attempts: 3, backoff: { kind: "constant", delay: "200ms" } },
    protocol: speaksAmqp091(strategy) ? "amqp-0-9-1" : "amqp-1.0",
  });
  const consumers = Object.fromEntries(pair.map((strategy, index) => [names[index], consumerOf(strategy)]));
  const strategies = Object.fromEntries(pair.map((strategy, index) => [names[index], strategy]));
  const declared = { name: "shop", sources: { orders: { kind: "topic" } }, consumers };
  const system = await deploy(broker, declared, "auto", undefined, { strategies });
  onTestFinished(system.dispose);
  expect(names.map((name) => system.contract(name).strategy)).toEqual(pair);
  const drivers = [];
  for (const name of names) {
    // Each fails the messages of its own, and is done with those of the other at once.
    const decide = ({ id }: { readonly id: string }) => (id.startsWith(name) ? "transient" : "success");
    const driver = await drive({ url: system.url, contract: system.contract(name), decide });
    onTestFinished(driver.stop);
    drivers.push({ name, driver });
  }
  const ids = names.flatMap((name) => [`${name}-1`, `${name}-2`, `${name}-3`]);
  await system.publish(ids, { exchange: "shop.orders", routingKey: "order.placed" });
  for (const { name, driver } of drivers) {
    const letters: string[] = [];
    await until(60_000, async () => {
      for (const { properties } of await system.drain(`shop.${name}.dead`)) letters.push(String(properties.messageId));
      return letters.length >= 3;
    });
    expect(letters.toSorted()).toEqual(ids.filter((id) => id.startsWith(name)));
    await until(60_000, () => driver.seen.length >= 3 * 3 + 3);
    for (const id of ids)
      expect(driver.seen.filter((each) => each.id === id).map(({ attempt }) => attempt)).toEqual(
        id.startsWith(name) ? [1, 2, 3] : [1],
      );
  }
});
