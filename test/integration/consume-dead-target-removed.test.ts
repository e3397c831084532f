import type { Channel } from "amqplib";
import { permanent } from "redeliver/consume";
import { describe, expect, test } from "vitest";

import { startBroker } from "../support/broker-containers.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import type { Strategy } from "../support/consume/fates.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { brokers } from "../support/live.ts";
import { versionsWithStrategies } from "../support/strategies.ts";

const dead = "shop.billing.dead";
const longestMs = 240_000;

/** Removals while a consumer runs. A consumer that starts later would be refused. */
const removals: Readonly<Record<string, (channel: Channel) => Promise<unknown>>> = {
  "the dead queue": (channel) => channel.deleteQueue(dead),
  "its binding": (channel) => channel.unbindQueue(dead, "shop.dead", "shop.billing"),
  "the exchange before it": (channel) => channel.deleteExchange("shop.dead"),
};
/**
 * Under these strategies the consumer publishes dead messages itself, so the broker tells it when they have no route.
 */
const sendItself: ReadonlySet<Strategy> = new Set(["staged", "waits"]);

/** Declares a topology again, so that its missing parts come back. */
async function putBack({ channel, compiled }: DeployedSystem): Promise<void> {
  const { exchanges, queues, bindings } = compiled.topology;
  for (const { name, kind, durable, autoDelete, arguments: given } of exchanges)
    await channel.assertExchange(name, kind, { durable, autoDelete, arguments: given });
  for (const { name, durable, autoDelete, arguments: given } of queues)
    await channel.assertQueue(name, { durable, autoDelete, arguments: given });
  for (const { source: from, destination, destinationKind, routingKey, arguments: given } of bindings)
    await (destinationKind === "queue"
      ? channel.bindQueue(destination, from, routingKey, given)
      : channel.bindExchange(destination, from, routingKey, given));
}

/** Without containers the test has no broker of its own, and other brokers try again only after three minutes. */
const hasContainers = brokers().some(({ containerId }) => containerId !== undefined);

describe.runIf(hasContainers).concurrent.each(versionsWithStrategies)("on $version", ({ version, strategies }) => {
  test(
    `the dead queue, its binding or its exchange is removed while messages die: others are handled, and all dead letters arrive once it is back (${strategies.join(", ")})`,
    { timeout: longestMs + 60_000 },
    async ({ onTestFinished }) => {
      const { broker, stop } = await startBroker(version, undefined, { deadLetterAgainMs: 10_000 });
      onTestFinished(stop);
      const removeUnder = async (strategy: Strategy, removal: string): Promise<void> => {
        const what = `${strategy} without ${removal}`;
        const declaration = billingUnder(strategy);
        const system = await deploy(broker, declaration, strategy);
        const options = { concurrency: 4, breaker: false } as const;
        const billing = await consumeFrom({ ...system, options }, ({ id }) => {
          if (id === "dies") throw permanent("NEVER");
          if (id === "fails") throw new Error("always");
        });
        onTestFinished(() => billing.running.stop("1s"));
        const outcomesOf = (id: string): readonly string[] =>
          billing.events.flatMap((event) =>
            event.kind === "settled" && event.messageId === id ? [event.outcome] : [],
          );
        await removals[removal]?.(system.channel);
        await system.publish(["dies", "fails", "fine"]);
        await until(longestMs, () => outcomesOf("fine").length === 1 && outcomesOf("fails").length >= 3);
        if (sendItself.has(strategy)) {
          await until(longestMs, () => billing.kinds().includes("settle-failed"));
          expect(outcomesOf("dies"), what).toEqual([]);
          expect(billing.running.health(), what).toMatchObject({ state: "running", isTaking: true });
        } else {
          // The broker does not report that a dead letter found no queue.
          await until(longestMs, () => outcomesOf("dies").length === 1);
          // The management API shows it. The consumer reads it twice a minute.
          await until(longestMs, () => billing.running.health().keptDeadLetters === 2);
          expect(billing.kinds(), what).not.toContain("settle-failed");
        }
        await putBack(system);
        const letters = new Set<string>();
        await until(longestMs, async () => {
          for (const letter of await system.drain(dead)) letters.add(String(letter.properties.messageId));
          return letters.size === 2 && outcomesOf("dies").length === 1;
        });
        expect([...letters].toSorted(), what).toEqual(["dies", "fails"]);
        expect(billing.runsOf("dies"), what).toHaveLength(1);
        expect(billing.kinds(), what).not.toContain("lost");
        await billing.running.stop();
        // The broker passes dead letters on at least once, so it may double some. No other message may be left.
        const left = (await system.drain("shop.billing")).map(({ properties }) => String(properties.messageId));
        expect(
          left.filter((id) => !letters.has(id)),
          what,
        ).toEqual([]);
        await system.dispose();
      };
      await Promise.all(
        strategies.flatMap((strategy) => Object.keys(removals).map((removal) => removeUnder(strategy, removal))),
      );
    },
  );
});
