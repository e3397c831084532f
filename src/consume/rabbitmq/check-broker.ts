import type { Channel, ChannelModel } from "amqplib";

import { waysOf } from "../../brokers/contract.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { RefusedError } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import { atMost } from "../long-timer.ts";
import type { Found, Presence } from "./compare.ts";
import { virtualHostOf } from "./connection.ts";
import type { Contract, Operation, PublishOperation } from "./contract.ts";
import type { Login } from "./credentials.ts";
import { askLogin } from "./credentials.ts";
import { judgeFound } from "./judge-found.ts";
import { mayPublish } from "./may-publish.ts";
import { noConnection, notPermitted } from "./refusals.ts";

/** How long a broker may take to say whether a user may publish. One that is short of memory or disk does not say it. */
const answersWithinMs = 5_000;

/**
 * Looks at what is deployed without changing anything, with passive declarations, and with publishes that are taken back.
 *
 * @throws RefusedError
 */
export async function checkBroker(
  comparison: Comparison<"rabbitmq">,
  connect: (login: Login | null) => Promise<ChannelModel>,
  end: (model: ChannelModel) => Promise<void>,
): Promise<void> {
  const { compiled, contract, connection } = comparison;
  const { topology } = compiled;
  const model = await askLogin(connection)
    .then(connect)
    .catch((cause: unknown) => {
      throw refused([noConnection(connection.url, cause)]);
    });
  let isCut = false;
  model.on("error", () => undefined);
  model.on("close", () => {
    isCut = true;
  });
  try {
    const queues = await presenceOf(model, namesIn(topology.queues), (channel, name) => channel.checkQueue(name));
    const exchanges = await presenceOf(model, namesIn(topology.exchanges), (channel, name) =>
      channel.checkExchange(name),
    );
    const { seen, ...publishing } = await publishingOf(model, contract, virtualHostOf(connection.url));
    await judgeFound(comparison, {
      version: model.connection.serverProperties.version,
      queues,
      exchanges: new Map([...exchanges, ...seen]),
      ...publishing,
    });
  } catch (cause) {
    throw isCut && !(cause instanceof RefusedError) ? refused([noConnection(connection.url, cause)]) : cause;
  } finally {
    await end(model);
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
    // From 4.3 on a passive declaration takes the permission to configure, which a consumer need not have.
    // Source: rabbitmq-server#16085.
    case 403:
      return { notShown: "no permission to configure" };
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
  const publishes = publishedTo(contract);
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

/** One publish to each exchange that the contract's copies go to, the permission being that for the exchange. */
function publishedTo(contract: Contract): readonly PublishOperation[] {
  const outcomes = [...Object.values(contract.outcomes), ...(contract.retryAfter ?? [])];
  const operations = outcomes.flatMap((outcome): readonly Operation[] =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
  const published = operations.flatMap((each) => (each.operation === "basic.publish" ? waysOf(each) : []));
  return [...new Map(published.map((each) => [each.exchange, each])).values()];
}
