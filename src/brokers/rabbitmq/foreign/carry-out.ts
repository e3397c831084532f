import { formatDurationMs } from "../../../declare/duration.ts";
import { type Diagnostic, accepted, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { type Entry, isEntry } from "../../../foreign/entries.ts";
import { parseInnerJson } from "../../../foreign/parse-json.ts";
import type { HttpReader } from "../../broker.ts";
import type { ChangeRequest, Claim, Migrating, Watched } from "../../migrating.ts";
import { afterDeployment, nameOf } from "../compile/after-deployment.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import { prefixOf } from "../compile/names.ts";
import { type FoundBinding, bindingKey, different, namesIn } from "../compile/differences.ts";
import type { BindingResource, PolicyResource } from "../compile/topology.ts";
import type { Deployment } from "./deployment.ts";
import { unbind } from "./leftovers.ts";
import { live } from "./live.ts";

export const migrating: Migrating<RabbitmqCompiled, Deployment, HttpReader<readonly Watched[]>> = Object.freeze({
  deployedAfter: (before: RabbitmqCompiled, after: RabbitmqCompiled) => ({
    ...after,
    topology: { ...after.topology, ...afterDeployment(before.topology, after.topology) },
  }),
  keepsSettings: true,
  requestsFor,
  claimOf,
  reader: {
    ...live,
    requests: (virtualHost: string | null) => {
      const below = virtualHost === null ? "" : `/${encodeURIComponent(virtualHost)}`;
      const counted = [...states, "message_stats"].join(",");
      return [
        { name: "queues", path: `api/queues${below}?columns=name,${counted}` },
        { name: "consumers", path: `api/consumers${below}` },
        { name: "exchanges", path: `api/exchanges${below}?columns=name,message_stats` },
        {
          name: "connections",
          path: `api/${virtualHost === null ? "" : `vhosts${below}/`}connections?columns=name,user_provided_name`,
        },
      ];
    },
    read: (answers: ReadonlyMap<string, string>) => accepted(watchedIn(answers)),
  },
  countsLagMs: 10_000,
});

/**
 * New policies come first. RabbitMQ reads the policies for a queue before it stores the queue, so a policy that is set
 * between the two never reaches it. Then come queues, while nothing leads into them, and the parts of the retries. Then
 * come changed policies, which lead messages to these parts. Bindings of sources come last, and only then those that the
 * system gives up are deleted. Source: `do_internal_declare/2` in `rabbit_amqqueue.erl`.
 *
 * @param late queues without statistics. RabbitMQ never starts a queue if the client is killed while it declares it. So
 *   such a queue is deleted and declared again if it is new, and nothing leads into it yet
 */
function requestsFor(
  { virtualHosts: [found] }: Deployment,
  { topology: before }: RabbitmqCompiled,
  { topology }: RabbitmqCompiled,
  late: readonly string[],
): readonly ChangeRequest[] {
  if (found === undefined) return [];
  const after = afterDeployment(before, topology);
  const there = namesIn(found.topology);
  const old = new Set(before.queues.map(nameOf));
  const isEmpty = (name: string): boolean =>
    !old.has(name) && leadsInto(name, after.bindings) && !leadsInto(name, found.topology.bindings);
  const unstarted = late.filter(isEmpty);
  const queues = after.queues.filter(({ name }) => !there.queue.has(name) || unstarted.includes(name));
  const exchanges = after.exchanges.filter(({ name, owner }) => owner !== "other" && !there.exchange.has(name));
  const bound = new Set(found.topology.bindings.map(bindingKey));
  const sources = new Set(after.exchanges.filter(({ role }) => role === "source").map(nameOf));
  const missing = after.bindings.filter((each) => !bound.has(bindingKey(each)));
  const policies = new Map(found.topology.policies.map((each) => [`${each.kind} ${each.name}`, each]));
  const unset = after.policies.filter(({ name, definition, ...wanted }) => {
    const { pattern, applyTo, priority, definition: set = {} } = policies.get(`user ${name}`) ?? {};
    const own = { pattern, applyTo, priority, ...set };
    return different("queue-policy", name, { ...wanted, ...definition }, own).length > 0;
  });
  const known = new Set(before.policies.map(nameOf));
  const policyOf = ({ name, pattern, applyTo, priority, definition }: PolicyResource): ChangeRequest => {
    const body = { pattern, "apply-to": applyTo, priority, definition };
    return { method: "PUT", path: path("policies", found.name, name), body, text: `set the policy ${name}` };
  };
  const bindingOf = (each: BindingResource): ChangeRequest => ({
    method: "POST",
    path: path(
      "bindings",
      found.name,
      "e",
      each.source,
      each.destinationKind === "queue" ? "q" : "e",
      each.destination,
    ),
    body: { routing_key: each.routingKey, arguments: each.arguments },
    text: `bind ${wayOf(each)}`,
  });
  const kept = new Set(after.bindings.map(bindingKey));
  const givenUp = new Set(before.bindings.map(bindingKey).filter((key) => !kept.has(key)));
  return [
    ...unstarted.map((name): ChangeRequest => {
      const text = `delete the queue ${name}, which the broker has not started`;
      return { method: "DELETE", path: path("queues", found.name, name), text, mends: name };
    }),
    ...unset.filter(({ name }) => !known.has(name)).map(policyOf),
    ...queues.map(({ name, durable, autoDelete, arguments: given }): ChangeRequest => {
      const body = { durable, auto_delete: autoDelete, arguments: given };
      return { method: "PUT", path: path("queues", found.name, name), body, text: `create the queue ${name}` };
    }),
    ...exchanges.map(({ name, kind, durable, autoDelete, arguments: given }): ChangeRequest => {
      const body = { type: kind, durable, auto_delete: autoDelete, internal: false, arguments: given };
      return { method: "PUT", path: path("exchanges", found.name, name), body, text: `create the exchange ${name}` };
    }),
    ...missing.filter(({ source }) => !sources.has(source)).map(bindingOf),
    ...unset.filter(({ name }) => known.has(name)).map(policyOf),
    ...missing.filter(({ source }) => sources.has(source)).map(bindingOf),
    // Numbers of several widths make bindings of their own, and read alike.
    ...found.topology.bindings
      .filter((each) => givenUp.has(bindingKey(each)))
      .map((each): ChangeRequest => ({
        method: "DELETE",
        path: unbind(found.name, each).slice("DELETE /".length),
        text: `unbind ${wayOf(each)}`,
      })),
  ];
}

/**
 * A queue that ends by itself. Its length is the holder: RabbitMQ accepts the same declaration again, which renews the
 * queue, and refuses another one. Source: `rabbit_amqqueue:assert_equivalence`, and https://www.rabbitmq.com/docs/ttl
 */
function claimOf({ virtualHosts: [found] }: Deployment, { topology }: RabbitmqCompiled, holder: number): Claim | null {
  if (found === undefined) return null;
  const name = `${prefixOf(topology)}.redeliver.migrating`;
  const at = path("queues", found.name, name);
  // The default type of the virtual host may be one without these arguments.
  const type = { "x-queue-type": "classic" };
  const body = { durable: true, arguments: { ...type, "x-expires": claimedMs, "x-max-length": holder } };
  return {
    take: { method: "PUT", path: at, body, text: `hold ${name}`, refusalOf: (status) => heldBy(name, status) },
    release: { method: "DELETE", path: at, text: `release ${name}` },
    isHeld: found.topology.queues.some((each) => each.name === name && each.arguments["x-max-length"] === holder),
  };
}

/** Another length is another holder. */
function heldBy(name: string, status: number): Diagnostic | null {
  if (status !== 400) return null;
  return diagnostic("RD307", {
    path: "",
    message: `another machine carries out a migration of this system, or did in the last ${formatDurationMs(claimedMs)}`,
    notes: [`the broker refuses the queue ${name}; a limit of queues in the virtual host has the same effect`],
    help: "wait until it has ended, and take its lock from git; a migration goes on wherever it stopped",
  });
}

/** One request may take a minute, and the claim is renewed after some of them. */
const claimedMs = 300_000;

function path(...words: readonly string[]): string {
  return `api/${words.map(encodeURIComponent).join("/")}`;
}

function leadsInto(queue: string, bindings: readonly FoundBinding[]): boolean {
  return bindings.some(({ destination, destinationKind }) => destinationKind === "queue" && destination === queue);
}

function wayOf({ source, destination, routingKey }: FoundBinding): string {
  return `${source} to ${destination}${routingKey === "" ? "" : ` with the key ${routingKey}`}`;
}

/** The parts of a count. A message that waits by delayed retry is in none of the first two. */
const states = ["messages_ready", "messages_unacknowledged", "messages_delayed", "messages_dlx"] as const;

function watchedIn(answers: ReadonlyMap<string, string>): readonly Watched[] {
  const listOf = (name: string): readonly Entry[] => {
    const list = parseInnerJson(answers.get(name) ?? "");
    return Array.isArray(list) ? list.filter(isEntry) : [];
  };
  const consumers = Map.groupBy(listOf("consumers"), ({ queue }) => (isEntry(queue) ? String(queue["name"]) : ""));
  // A program may name its connection. Many programs have one address behind a proxy.
  const named = new Map(
    listOf("connections").flatMap(({ name, user_provided_name: own }) =>
      typeof own === "string" && own !== "" ? [[String(name), own] as const] : [],
    ),
  );
  const queues = listOf("queues").map((queue): Watched => {
    const name = String(queue["name"]);
    const counted = states.flatMap((state) => {
      const count = queue[state];
      return typeof count === "number" ? [[state.slice("messages_".length), count] as const] : [];
    });
    return {
      kind: "queue",
      name,
      messages: Object.fromEntries(counted),
      moved: countsIn(queue),
      connections: (consumers.get(name) ?? []).map(({ channel_details: channel, consumer_tag: tag }) => {
        const address = String((isEntry(channel) ? channel["connection_name"] : undefined) ?? tag);
        const own = named.get(address);
        return own === undefined ? address : `${own} (${address})`;
      }),
    };
  });
  const sources = listOf("exchanges").map((exchange): Watched => {
    return { kind: "source", name: String(exchange["name"]), messages: {}, moved: countsIn(exchange), connections: [] };
  });
  return [...queues, ...sources];
}

/** All that the broker has counted. It leaves out the counts of an exchange that no message ever came to. */
function countsIn({ message_stats: stats }: Entry): string {
  return JSON.stringify(Object.entries(isEntry(stats) ? stats : {}).filter(([, count]) => typeof count === "number"));
}
