import type { Channel, ChannelModel } from "amqplib";

import type { CompiledSystem } from "../../brokers/index.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import type { Presence } from "./compare.ts";
import type { Contract, Operation } from "./contract.ts";
import { judgeFound } from "./judge-found.ts";
import { noConnection } from "./refusals.ts";

/**
 * Looks at what is deployed without changing anything, with passive declarations.
 *
 * @throws RefusedError
 */
export async function checkBroker(
  comparison: Comparison<"rabbitmq">,
  connect: () => Promise<ChannelModel>,
): Promise<void> {
  const { compiled, contract, connection } = comparison;
  const model = await connect().catch((cause: unknown) => {
    throw refused([noConnection(connection.url, cause)]);
  });
  model.on("error", () => undefined);
  try {
    await judgeFound(comparison, {
      version: model.connection.serverProperties.version,
      queues: await presenceOf(model, queuesOf(compiled, contract), (channel, name) => channel.checkQueue(name)),
      exchanges: await presenceOf(model, exchangesOf(contract), (channel, name) => channel.checkExchange(name)),
    });
  } finally {
    await model.close().catch(() => undefined);
  }
}

/** Where its messages come from, wait and end; a queue that is missing would be found out by the first message that needs it. */
function queuesOf({ topology }: CompiledSystem<"rabbitmq">, { consumer }: Contract): readonly string[] {
  return topology.queues
    .filter((queue) => queue.consumer === consumer || queue.consumer === null)
    .map((queue) => queue.name);
}

/** The exchanges that the consumer itself publishes to, or binds its own queue to. */
function exchangesOf(contract: Contract): readonly string[] {
  const outcomes = [...Object.values(contract.outcomes), ...(contract.retryAfter ?? [])];
  const operations = outcomes.flatMap((outcome): readonly Operation[] =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
  const published = operations.flatMap((each) => (each.operation === "basic.publish" ? [each.exchange] : []));
  const bound = contract.instanceQueue?.bindings.map(({ exchange }) => exchange) ?? [];
  return [...new Set([...published, ...bound])].filter((name) => name !== "");
}

/** A passive declaration that fails takes its channel down with it, so each one has a channel of its own. */
async function presenceOf(
  model: ChannelModel,
  names: readonly string[],
  look: (channel: Channel, name: string) => Promise<unknown>,
): Promise<ReadonlyMap<string, Presence>> {
  const presences = new Map<string, Presence>();
  for (const name of names) {
    const channel = await model.createChannel();
    channel.on("error", () => undefined);
    try {
      await look(channel, name);
      presences.set(name, "there");
      await channel.close();
    } catch (cause) {
      presences.set(name, presenceIn(cause));
    }
  }
  return presences;
}

function presenceIn(cause: unknown): Presence {
  switch ((cause as { code?: unknown }).code) {
    case 404:
      return "missing";
    // From 4.3 on a passive declaration takes the permission to configure, which a consumer need not have.
    // Source: rabbitmq-server#16085.
    case 403:
      return "not shown";
    default:
      throw cause;
  }
}
