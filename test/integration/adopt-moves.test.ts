import amqplib from "amqplib";
import { describe, test } from "vitest";

import type { Move } from "../../src/adopt/found.ts";
import type { SystemInput } from "../../src/declare/system.ts";
import { brokers, compile } from "../../src/index.ts";
import { adoptedTopologies } from "../support/adopted-topologies.ts";
import { until } from "../support/deployed-system.ts";
import { accepted, checked } from "../support/examples.ts";
import { brokers as liveBrokers, createVhost } from "../support/live.ts";
import { type JsonObject, createManagement } from "../support/management.ts";
import { runSeparately } from "../support/run-command.ts";

// Each topology is adopted, and each of its consumers with a queue that cannot change gets a new one by the first steps
// that adopt prints. A producer publishes before, between and after them.

interface Binding {
  readonly source: string;
  readonly destination: string;
  readonly routing_key: string;
  readonly arguments: Readonly<Record<string, string>>;
}

describe.for(liveBrokers())("on RabbitMQ $version", { concurrent: true }, (broker) => {
  // Up to 4.2 no queue delays returns by itself.
  const topologies = Object.entries(adoptedTopologies).filter(
    ([name]) => broker.version === "4.3" || !name.startsWith("delayed retry"),
  );
  test.for(topologies)(
    "%s: the steps to new queues lose no message, and the old queues get no more",
    async ([, topology], { expect, onTestFinished, skip }) => {
      const { version } = broker;
      const { vhost, amqpUrl, dispose } = await createVhost(broker);
      onTestFinished(dispose);
      const management = createManagement(broker.managementUrl);
      const { policies = [], ...rest } = topology.definitions;
      const here = (all: readonly object[]): readonly object[] => all.map((one) => ({ ...one, vhost }));
      const [exchanges, queues, bindings] = [rest.exchanges, rest.queues, rest.bindings].map(here);
      await management.importDefinitions({ exchanges, queues, bindings, policies: here(policies) } as JsonObject);
      const url = `${broker.managementUrl.replace(/\/$/, "")}/${encodeURIComponent(vhost)}`;
      const said = await runSeparately(["adopt", "--url", url, "--name", "adopted", "--json"]);
      const { declaration, moves, targetOptions } = JSON.parse(said.out) as {
        readonly declaration: SystemInput;
        readonly moves: readonly Move[];
        readonly targetOptions?: object;
      };
      if (moves.length === 0) skip("every queue can stay");
      const consumers = Object.fromEntries(
        Object.entries(declaration.consumers).map(([key, consumer]) => {
          const move = moves.find((each) => each.consumer === key);
          return [key, move === undefined ? consumer : { ...consumer, queue: move.next }];
        }),
      );
      const system = checked({ ...declaration, consumers });
      const compiled = accepted(compile(system, { broker: "rabbitmq", version, ...targetOptions }));
      const connection = await amqplib.connect(amqpUrl);
      onTestFinished(async () => connection.close());
      const channel = await connection.createConfirmChannel();
      const returned: string[] = [];
      channel.on("return", ({ properties }) => returned.push(String(properties.messageId)));

      const bound = (topology.definitions.bindings as readonly Binding[]).filter(
        ({ source, destination }) => source !== "" && moves.some(({ queue }) => queue === destination),
      );
      // Without a source producers send straight to the old queue, until they are told the new one.
      const sentTo = (phase: string, { queue, next }: Move): Binding => ({
        source: "",
        destination: queue,
        routing_key: phase === "after" ? next : queue,
        arguments: {},
      });
      const direct = moves.filter(({ queue }) => !bound.some(({ destination }) => destination === queue));
      const waysIn = (phase: string): readonly Binding[] => [...bound, ...direct.map((move) => sentTo(phase, move))];
      const ways = waysIn("before");
      const published: string[] = [];
      const publish = async (phase: string): Promise<readonly string[]> => {
        const ids = [...ways.keys()].flatMap((way) => [0, 1, 2, 3, 4].map((index) => `${phase} ${way} ${index}`));
        for (const id of ids) {
          const way = waysIn(phase)[Number(id.split(" ")[1])] ?? expect.unreachable();
          const key = way.routing_key.replaceAll(/[#*]/g, "x");
          const { "x-match": _, ...headers } = way.arguments;
          channel.publish(way.source, key, Buffer.from("{}"), {
            messageId: id,
            headers,
            mandatory: true,
            persistent: true,
          });
        }
        await channel.waitForConfirms();
        published.push(...ids);
        return ids;
      };
      await publish("before");
      await management.importDefinitions(
        brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as JsonObject,
      );
      const between = await publish("between");
      for (const request of moves.flatMap(({ unbind }) => unbind)) {
        const [method = "", path = ""] = request.split(" ");
        expect(method).toBe("DELETE");
        await management.delete(path.slice("/api/".length));
      }
      const late = await publish("after");

      const seen = new Map<string, string[]>();
      const take = async (queue: string): Promise<void> => {
        await channel.consume(queue, (message) => {
          if (message === null) return;
          const id = String(message.properties.messageId);
          seen.set(id, [...(seen.get(id) ?? []), queue]);
          channel.ack(message);
        });
      };
      for (const { queue, next } of moves) {
        await take(queue);
        await take(next);
      }
      const isAll = (): boolean => published.every((id) => seen.has(id));
      const queuesOf = moves.flatMap(({ queue, next }) => [queue, next]);
      const areEmpty = async (): Promise<boolean> =>
        (await Promise.all(queuesOf.map(async (queue) => channel.checkQueue(queue)))).every(
          ({ messageCount }) => messageCount === 0,
        );
      await until(60_000, async () => isAll() && (await areEmpty())).catch(() => undefined);
      expect(published.filter((id) => !seen.has(id))).toEqual([]);
      expect(returned).toEqual([]);
      // A way that stays leads into the old queue alone.
      const fresh = new Set(moves.map(({ next }) => next));
      const staying = new Set(moves.flatMap((each) => each.staying));
      const isBound = (id: string): boolean => Number(id.split(" ")[1]) < bound.length;
      const isMoved = (id: string): boolean => !staying.has(ways[Number(id.split(" ")[1])]?.source ?? "");
      const inOld = (id: string): readonly string[] => (seen.get(id) ?? []).filter((queue) => !fresh.has(queue));
      expect(late.filter((id) => isMoved(id) && inOld(id).length > 0)).toEqual([]);
      expect(
        between.filter((id) => isMoved(id) && isBound(id) && !seen.get(id)?.some((queue) => fresh.has(queue))),
      ).toEqual([]);
      expect([...ways.keys()].some((way) => isMoved(`late ${way}`))).toBe(true);
    },
  );
});
