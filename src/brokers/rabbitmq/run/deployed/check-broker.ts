import type { Channel, ChannelModel } from "amqplib";

import { inPermissions } from "../../compile/permissions.ts";
import { type Diagnostic, RefusedError } from "../../../../diagnostics/diagnostic.ts";
import { refused } from "../../../../diagnostics/render.ts";
import type { Comparison } from "../port.ts";
import { afterMs, atMost } from "../../../../consume/port/long-timer.ts";
import { compareByDeclaring } from "./compare-by-declaring.ts";
import type { Found, Presence } from "./compare.ts";
import { virtualHostIn } from "../connection.ts";
import { closeChannel, connectByAmqp091, destroyConnection, endLook } from "../amqp-0-9-1/connect.ts";
import type { Contract, PublishOperation } from "../../compile/contract.ts";
import { publicationsOf } from "../../compile/publications.ts";
import { askLogin } from "../credentials.ts";
import { judgeFound } from "./judge-found.ts";
import { mayPublish } from "../amqp-0-9-1/may-publish.ts";
import { type RabbitmqNode, connectToOne } from "../nodes.ts";
import { isLocked, notPermitted, takenAlone } from "../queue-refusals.ts";
import { noConnection, noConnections } from "../refusals.ts";

/** The time limit for one answer. A broker that is short of memory or disk does not say whether a user may publish. */
const answersWithinMs = 5_000;

/** The time limit for all checks together. */
const looksWithinMs = 30_000;

interface Look {
  readonly model: ChannelModel;
  readonly url: string;
  /** Connects once more, to the same node. */
  readonly again: () => Promise<ChannelModel>;
}

/**
 * Checks the deployed resources without changing any. It uses passive declarations, and publishes in transactions that
 * never commit.
 *
 * @throws RefusedError
 */
export async function checkBroker(comparison: Comparison): Promise<void> {
  const { compiled, contract, connection, givenUp } = comparison;
  const { topology } = compiled;
  const connect = async (): Promise<Look> => {
    const login = await askLogin(connection, givenUp);
    const connectTo = (node: RabbitmqNode): Promise<ChannelModel> => connectByAmqp091(node, login, givenUp);
    const { connected: model, node } = await connectToOne(connection, givenUp, connectTo);
    return { model, url: node.url, again: () => connectTo(node) };
  };
  const { model, url, again } = await connect().catch((cause: unknown) => {
    givenUp.throwIfAborted();
    throw refused(noConnections(connection, cause));
  });
  let cut: unknown = null;
  model.on("error", (cause) => {
    cut ??= cause;
  });
  model.on("close", () => {
    cut ??= new Error("the connection was closed");
  });
  const cancel = afterMs(looksWithinMs, () => {
    cut ??= new Error(`the broker did not show its resources within ${looksWithinMs / 1_000} s`);
    destroyConnection(model);
  });
  try {
    const queues = await presenceOf(model, namesIn(topology.queues), (channel, name) => channel.checkQueue(name));
    const exchanges = await presenceOf(model, namesIn(topology.exchanges), (channel, name) =>
      channel.checkExchange(name),
    );
    const { seen, ...publishing } = await publishingOf(again, contract, virtualHostIn(url));
    const found = {
      version: model.connection.serverProperties.version,
      queues,
      exchanges: new Map([...exchanges, ...seen]),
      ...publishing,
    };
    await judgeFound(comparison, found, () => compareByDeclaring(model, topology, found));
  } catch (cause) {
    givenUp.throwIfAborted();
    throw cut === null || cause instanceof RefusedError ? cause : refused([noConnection(url, cut)]);
  } finally {
    cancel();
    await endLook(model);
  }
}

function namesIn(entities: readonly { readonly name: string }[]): readonly string[] {
  return entities.map(({ name }) => name);
}

/** A failed passive declaration closes its channel, so the next check uses another one. */
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
  if (channel !== null) await closeChannel(channel);
  return presences;
}

function presenceIn(cause: unknown): Presence {
  const code = codeOf(cause);
  if (code === 404) return "missing";
  // From 4.3 on a passive declaration needs any one permission for its resource. Source: rabbitmq-server#16085.
  if (code === 403) return { notShown: "no permission for it" };
  throw cause;
}

function codeOf(cause: unknown): unknown {
  return (cause as { readonly code?: unknown } | null | undefined)?.code;
}

/**
 * Otherwise the first message that needs a copy would find the refusal, and later ones would wait behind it. The check
 * has its own connection: while the broker is short of memory or disk, it does not read connections that have
 * published.
 */
async function publishingOf(
  connect: () => Promise<ChannelModel>,
  contract: Contract,
  virtualHost: string,
): Promise<Pick<Found, "refusals" | "unasked"> & { readonly seen: ReadonlyMap<string, Presence> }> {
  const seen = new Map<string, Presence>();
  const refusals: Diagnostic[] = [];
  // One for each exchange, because the permission is that for the exchange.
  const publishes = [...new Map(publicationsOf(contract).map((each) => [each.exchange, each])).values()];
  const unasked = new Set(publishes.map(({ exchange }) => exchange));
  if (unasked.size === 0) return { seen, refusals, unasked: [] };
  const model = await connect();
  model.on("error", () => undefined);
  const ask = async ({ exchange, routingKey }: PublishOperation): Promise<void> => {
    try {
      await mayPublish(model, exchange, routingKey);
      if (exchange !== "") seen.set(exchange, "there");
    } catch (cause) {
      const code = codeOf(cause);
      if (code === 404) seen.set(exchange, "missing");
      else if (code === 403)
        refusals.push(notPermitted("write", { contract, name: inPermissions(exchange), virtualHost, cause }));
      else throw cause;
    }
    unasked.delete(exchange);
  };
  for (const publish of publishes) {
    await atMost(answersWithinMs, ask(publish));
    // If the broker does not answer for one exchange, it does not answer for the next.
    if (unasked.has(publish.exchange)) break;
  }
  await endLook(model);
  return { seen, refusals, unasked: [...unasked].map(inPermissions) };
}
