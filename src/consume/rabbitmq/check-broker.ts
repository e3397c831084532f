import type { Channel, ChannelModel } from "amqplib";

import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { RefusedError } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import { atMost } from "../long-timer.ts";
import { compareByDeclaring } from "./compare-by-declaring.ts";
import type { Found, Presence } from "./compare.ts";
import { virtualHostIn } from "./connection.ts";
import { connectByAmqp091, endLook } from "./connect-amqp-0-9-1.ts";
import type { Contract, PublishOperation } from "./contract.ts";
import { publishedBy } from "./contract.ts";
import { askLogin } from "./credentials.ts";
import { judgeFound } from "./judge-found.ts";
import { mayPublish } from "./may-publish.ts";
import { connectToOne } from "./nodes.ts";
import { isLocked, notPermitted, takenAlone } from "./queue-refusals.ts";
import { noConnection, noConnections } from "./refusals.ts";

/** How long a broker may take to say whether a user may publish. One that is short of memory or disk does not say it. */
const answersWithinMs = 5_000;

/**
 * Looks at what is deployed without changing anything, with declarations of what is there, and with publishes that are taken back.
 *
 * @throws RefusedError
 */
export async function checkBroker(comparison: Comparison<"rabbitmq">): Promise<void> {
  const { compiled, contract, connection } = comparison;
  const { topology } = compiled;
  const { connected: model, url } = await askLogin(connection)
    .then((login) => connectToOne(connection, null, (node) => connectByAmqp091(node, login)))
    .catch((cause: unknown) => {
      throw refused(noConnections(connection, cause));
    });
  let cut: unknown = null;
  model.on("error", (cause) => {
    cut = cause;
  });
  model.on("close", () => {
    cut ??= new Error("the connection was closed");
  });
  try {
    const queues = await presenceOf(model, namesIn(topology.queues), (channel, name) => channel.checkQueue(name));
    const exchanges = await presenceOf(model, namesIn(topology.exchanges), (channel, name) =>
      channel.checkExchange(name),
    );
    const { seen, ...publishing } = await publishingOf(model, contract, virtualHostIn(url));
    const found = {
      version: model.connection.serverProperties.version,
      queues,
      exchanges: new Map([...exchanges, ...seen]),
      ...publishing,
    };
    await judgeFound(comparison, found, () => compareByDeclaring(model, topology, found));
  } catch (cause) {
    throw cut === null || cause instanceof RefusedError ? cause : refused([noConnection(url, cut)]);
  } finally {
    await endLook(model);
  }
}

function namesIn(entities: readonly { readonly name: string }[]): readonly string[] {
  return entities.map(({ name }) => name);
}

/** A passive declaration that fails takes its channel down with it, so what comes after it has another one. */
async function presenceOf(
  model: ChannelModel,
  names: readonly string[],
  look: (channel: Channel, name: string) => Promise<unknown>,
): Promise<ReadonlyMap<string, Presence>> {
  const presences = new Map<string, Presence>();
  let channel: Channel | null = null;
  for (const name of names) {
    if (channel === null) {
      channel = await model.createChannel();
      channel.on("error", () => undefined);
    }
    try {
      await look(channel, name);
      presences.set(name, "there");
    } catch (cause) {
      if (isLocked(cause)) throw refused([takenAlone(name)]);
      presences.set(name, presenceIn(cause));
      channel = null;
    }
  }
  await channel?.close();
  return presences;
}

function presenceIn(cause: unknown): Presence {
  switch (codeOf(cause)) {
    case 404:
      return "missing";
    // From 4.3 on a passive declaration takes some permission for what it names, whichever. Source: rabbitmq-server#16085.
    case 403:
      return { notShown: "no permission for it" };
    default:
      throw cause;
  }
}

function codeOf(cause: unknown): unknown {
  return (cause as { readonly code?: unknown } | null | undefined)?.code;
}

/** Copies that are refused would be found out by the first message that needs one, and whatever needs one after it would wait. */
async function publishingOf(
  model: ChannelModel,
  contract: Contract,
  virtualHost: string,
): Promise<Pick<Found, "refusals" | "unasked"> & { readonly seen: ReadonlyMap<string, Presence> }> {
  const seen = new Map<string, Presence>();
  const refusals: Diagnostic[] = [];
  // One to each exchange, the permission being that for the exchange.
  const publishes = [...new Map(publishedBy(contract).map((each) => [each.exchange, each])).values()];
  const unasked = new Set(publishes.map(({ exchange }) => exchange));
  const ask = async ({ exchange, routingKey }: PublishOperation): Promise<void> => {
    try {
      await mayPublish(model, exchange, routingKey);
      if (exchange !== "") seen.set(exchange, "there");
    } catch (cause) {
      const code = codeOf(cause);
      if (code === 404) seen.set(exchange, "missing");
      else if (code === 403) refusals.push(notPermitted("write", inPermissions(exchange), virtualHost, cause));
      else throw cause;
    }
    unasked.delete(exchange);
  };
  for (const publish of publishes) {
    await atMost(answersWithinMs, ask(publish));
    // A broker that has not said it of one exchange does not say it of the next.
    if (unasked.has(publish.exchange)) break;
  }
  return { seen, refusals, unasked: [...unasked].map(inPermissions) };
}

/** The default exchange has a name of its own there. Source: rabbitmq.com/docs/access-control. */
function inPermissions(exchange: string): string {
  return exchange === "" ? "amq.default" : exchange;
}
