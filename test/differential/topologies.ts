import fc from "fast-check";

import type {
  Arguments,
  BrokerBinding,
  BrokerExchange,
  BrokerPolicy,
  BrokerQueue,
  BrokerTopology,
  Headers,
  Publication,
} from "../../src/brokers/rabbitmq/prove/semantics.ts";

/** A consumer's action on a waiting message, if there is one. `pick` chooses the message. */
export interface Action {
  readonly kind: "ack" | "nack" | "nack-requeue" | "reject" | "reject-requeue" | "crash";
  readonly pick: number;
}

/**
 * A topology, a message published to it, and the consumers' actions on it. In names, `@` stands for a prefix of the
 * run.
 */
export interface DifferentialCase {
  readonly topology: BrokerTopology;
  readonly publication: Publication;
  readonly actions: readonly Action[];
}

/** A time to live from here on is as good as none: no test runs this long. */
export const longMs = 600_000;

/** Gives a case's names a prefix, so that cases can share a virtual host. */
export function instantiate(differentialCase: DifferentialCase, prefix: string): DifferentialCase {
  return JSON.parse(JSON.stringify(differentialCase).replaceAll("@", prefix)) as DifferentialCase;
}

/**
 * Features that only some versions know. An older broker refuses `negativeLimitByPolicy`. It accepts `delayedRetry` and
 * ignores it.
 */
export interface Known {
  readonly negativeLimitByPolicy: boolean;
  readonly delayedRetry: boolean;
}

export function differentialCases(known: Known): fc.Arbitrary<DifferentialCase> {
  return fc
    .record({
      isChain: fc.nat({ max: 3 }).map((drawn) => drawn === 0),
      queueCount: fc.integer({ min: 2, max: 5 }),
      exchangeCount: fc.integer({ min: 1, max: 4 }),
    })
    .chain(({ isChain, queueCount, exchangeCount }) => {
      const queueNames = Array.from({ length: isChain ? 5 : queueCount }, (_, index) => `@q${index}`);
      const exchangeNames = Array.from({ length: exchangeCount }, (_, index) => `@x${index}`);
      const keys = fc.constantFrom("a", "b", "a.b", ...queueNames);
      return fc.record({
        topology: topologies(queueNames, exchangeNames, keys, known)
          .map(isChain ? chained : (drawn) => drawn)
          .map(onlyHeadersAsk),
        publication: publications(queueNames, exchangeNames, keys),
        actions: fc.array(actions, { minLength: 1, maxLength: 7 }),
      });
    });
}

const actions: fc.Arbitrary<Action> = fc.record({
  kind: fc.constantFrom("nack", "nack", "reject", "nack-requeue", "reject-requeue", "crash", "crash", "ack"),
  pick: fc.nat({ max: 7 }),
});

/** Absent as often as the weight says, so that most settings of a queue are at their defaults. */
function sometimes<Value>(arbitrary: fc.Arbitrary<Value>, absentWeight = 2): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: absentWeight }, { arbitrary, weight: 1 });
}

function present(values: Readonly<Record<string, unknown>>): Arguments {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Arguments;
}

const ttls = fc.constantFrom(20, 40, 80, longMs);

function topologies(
  queueNames: readonly string[],
  exchangeNames: readonly string[],
  keys: fc.Arbitrary<string>,
  known: Known,
): fc.Arbitrary<BrokerTopology> {
  return fc
    .record({
      exchanges: fc.tuple(...exchangeNames.map((name) => exchanges(name, exchangeNames))),
      queues: fc.tuple(...queueNames.map((name) => queues(name, exchangeNames, keys, known))),
      bindings: fc.array(bindings(queueNames, exchangeNames, keys), { minLength: queueNames.length, maxLength: 9 }),
      policies: fc.array(policies(queueNames, exchangeNames, keys, known), { maxLength: 2 }),
    })
    .map(({ exchanges: made, policies: drawn, bindings: bound, queues: declared }) => ({
      exchanges: made,
      queues: declared,
      // Policies of one priority on one queue have no order, so each policy has its own priority.
      policies: drawn.map((policy, index) => ({ ...policy, name: `@p${index}`, priority: index })),
      bindings: bound,
    }));
}

/** Other exchanges than headers exchanges ignore the arguments of their bindings. */
function onlyHeadersAsk(topology: BrokerTopology): BrokerTopology {
  const headers = new Set(topology.exchanges.filter(({ kind }) => kind === "headers").map(({ name }) => name));
  const bound = topology.bindings.map((each) => (headers.has(each.source) ? each : { ...each, arguments: {} }));
  return { ...topology, bindings: bound };
}

/**
 * As under `staged`: the first queue dead-letters to a headers exchange. In each other queue messages expire into the
 * next one, and the last of them leads back to the first. Random queues seldom do either.
 */
function chained({ exchanges: made, queues: drawn, bindings: bound, policies: tuned }: BrokerTopology): BrokerTopology {
  const [entry, ...others] = made as readonly [BrokerExchange, ...BrokerExchange[]];
  const [first, ...tiers] = drawn as readonly [BrokerQueue, ...BrokerQueue[]];
  const ways: BrokerBinding[] = [];
  const links = tiers.map((tier, index): BrokerQueue => {
    const { "x-dead-letter-exchange": through, "x-message-ttl": ttl } = tier.arguments;
    const source = others.find(({ name }) => name === through)?.name ?? "";
    const destination = (tiers[index + 1] ?? first).name;
    if (source !== "")
      ways.push({ source, destination, destinationKind: "queue", routingKey: destination, arguments: {} });
    const onward = { "x-dead-letter-exchange": source, "x-dead-letter-routing-key": destination };
    return { ...tier, arguments: { ...tier.arguments, ...onward, "x-message-ttl": ttl === longMs ? 20 : (ttl ?? 20) } };
  });
  return {
    exchanges: [{ ...entry, kind: "headers" }, ...others],
    queues: [{ ...first, arguments: { ...first.arguments, "x-dead-letter-exchange": entry.name } }, ...links],
    bindings: [...bound.map((binding) => ({ ...binding, source: entry.name })), ...ways],
    policies: tuned,
  };
}

function exchanges(name: string, exchangeNames: readonly string[]): fc.Arbitrary<BrokerExchange> {
  return fc
    .record({
      kind: fc.constantFrom("direct", "fanout", "fanout", "topic", "headers"),
      alternate: sometimes(fc.constantFrom(...exchangeNames, "@missing"), 4),
    })
    .map(({ kind, alternate }) => ({ name, kind, arguments: present({ "alternate-exchange": alternate }) }));
}

function queues(
  name: string,
  exchangeNames: readonly string[],
  keys: fc.Arbitrary<string>,
  { delayedRetry }: Known,
): fc.Arbitrary<BrokerQueue> {
  return fc
    .record({
      kind: fc.constantFrom("quorum", "quorum", "classic"),
      exchange: fc.oneof(
        { arbitrary: fc.constantFrom("", ...exchangeNames), weight: 8 },
        { arbitrary: fc.constantFrom(undefined, "@missing"), weight: 1 },
      ),
      key: sometimes(keys, 1),
      ttl: sometimes(ttls),
      limit: sometimes(fc.constantFrom<number | string>(0, 1, 2, -1, "3"), 1),
      strategy: sometimes(fc.constantFrom("at-least-once", "at-most-once")),
      overflow: sometimes(fc.constantFrom("drop-head", "reject-publish", "reject-publish", "reject-publish-dlx"), 1),
      isEmpty: fc.oneof({ arbitrary: fc.constant(false), weight: 9 }, { arbitrary: fc.constant(true), weight: 1 }),
      retry: sometimes(
        fc.record({
          type: fc.constantFrom("all", "failed", "returned", "disabled"),
          min: sometimes(fc.constantFrom<number | string>(15, 30, "30"), 0),
          max: sometimes(fc.constantFrom(20, 45), 1),
        }),
        3,
      ),
    })
    .map(({ kind, exchange, key, ttl, limit, strategy, overflow, isEmpty, retry }) => {
      const isQuorum = kind === "quorum";
      const given = {
        "x-queue-type": kind,
        "x-dead-letter-exchange": exchange,
        "x-dead-letter-routing-key": exchange === undefined ? undefined : key,
        "x-message-ttl": ttl,
        "x-overflow": overflow,
        // A quorum queue of length 0 with `reject-publish` still accepts one message. It refuses only later ones.
        "x-max-length": isEmpty && !(isQuorum && overflow === "reject-publish") ? 0 : undefined,
      };
      const quorumOnly = {
        "x-delivery-limit": limit,
        "x-dead-letter-strategy": strategy,
        ...(delayedRetry && retry !== undefined
          ? { "x-delayed-retry-type": retry.type, "x-delayed-retry-min": retry.min, "x-delayed-retry-max": retry.max }
          : {}),
      };
      return { name, kind, arguments: present(isQuorum ? { ...given, ...quorumOnly } : given) };
    });
}

/** The headers that the broker writes at a death. Bindings ask for them, and publishers forge them. */
export const deathHeaderNames: readonly string[] = ["first", "last"].flatMap((which) =>
  ["reason", "queue", "exchange"].map((part) => `x-${which}-death-${part}`),
);

function deathHeaders(queueNames: readonly string[], exchangeNames: readonly string[]) {
  const valueOf = (name: string): fc.Arbitrary<string> => {
    if (name.endsWith("-queue")) return fc.constantFrom(...queueNames);
    if (name.endsWith("-exchange")) return fc.constantFrom("", ...exchangeNames);
    return fc.constantFrom("rejected", "rejected", "expired", "delivery_limit", "maxlen");
  };
  return Object.fromEntries(deathHeaderNames.map((name) => [name, sometimes(valueOf(name), 4)]));
}

const headerValues = fc.constantFrom<string | number | boolean>("red", "1", 1, 1.5, true, "true");

function bindings(
  queueNames: readonly string[],
  exchangeNames: readonly string[],
  keys: fc.Arbitrary<string>,
): fc.Arbitrary<BrokerBinding> {
  const destinations = fc.oneof(
    {
      arbitrary: fc
        .constantFrom(...queueNames)
        .map((destination) => ({ destination, destinationKind: "queue" as const })),
      weight: 4,
    },
    {
      arbitrary: fc
        .constantFrom(...exchangeNames)
        .map((destination) => ({ destination, destinationKind: "exchange" as const })),
      weight: 1,
    },
  );
  const wanted = fc.record({
    "x-match": fc.constantFrom("all", "any", undefined, "any-with-x", "all-with-x", "all-with-x", "all-with-x"),
    ...deathHeaders(queueNames, exchangeNames),
    color: sometimes(headerValues, 6),
  });
  return fc
    .record({
      source: fc.constantFrom(...exchangeNames),
      to: destinations,
      routingKey: fc.oneof(keys, fc.constantFrom("#", "*", "a.*", "*.b", "#.b", "a.#")),
      wanted,
    })
    .map(({ source, to, routingKey, wanted: pairs }) => ({ source, ...to, routingKey, arguments: present(pairs) }));
}

function policies(
  queueNames: readonly string[],
  exchangeNames: readonly string[],
  keys: fc.Arbitrary<string>,
  { negativeLimitByPolicy }: Known,
): fc.Arbitrary<Omit<BrokerPolicy, "name" | "priority">> {
  const unlimited = negativeLimitByPolicy ? [-1] : [];
  const definition = fc.record({
    "dead-letter-exchange": sometimes(fc.constantFrom("", ...exchangeNames)),
    "dead-letter-routing-key": sometimes(keys, 3),
    "dead-letter-strategy": sometimes(fc.constantFrom("at-least-once", "at-most-once"), 4),
    "delivery-limit": sometimes(fc.constantFrom(0, 1, 3, ...unlimited), 2),
    "message-ttl": sometimes(ttls, 3),
    overflow: sometimes(fc.constantFrom("drop-head", "reject-publish"), 3),
  });
  const operatorDefinition = fc.record({
    "delivery-limit": sometimes(fc.constantFrom(0, 2, ...unlimited), 1),
    "message-ttl": sometimes(ttls, 2),
  });
  const pattern = fc.oneof(
    fc.constantFrom(...queueNames).map((name) => `^${name}$`),
    fc.constantFrom("^@q", "^@q[02]", "@q1"),
  );
  const user = fc.record({ kind: fc.constant("user" as const), pattern, definition: definition.map(present) });
  const operator = fc.record({
    kind: fc.constant("operator" as const),
    pattern,
    definition: operatorDefinition.map(present),
  });
  return fc
    .oneof({ arbitrary: user, weight: 2 }, { arbitrary: operator, weight: 1 })
    .filter((policy) => Object.keys(policy.definition).length > 0)
    .map((policy) => ({ ...policy, applyTo: "queues" as const }));
}

function publications(
  queueNames: readonly string[],
  exchangeNames: readonly string[],
  keys: fc.Arbitrary<string>,
): fc.Arbitrary<Publication> {
  const deaths = fc.record({
    queue: fc.constantFrom(...queueNames),
    reason: fc.constantFrom("rejected", "expired"),
    exchange: fc.constant(""),
    count: fc.integer({ min: 1, max: 3 }),
    "routing-keys": fc.constant(["a"]),
  });
  const headers = fc
    .record({
      ...deathHeaders(queueNames, exchangeNames),
      color: sometimes(headerValues, 1),
      CC: sometimes(fc.array(keys, { minLength: 1, maxLength: 2 }), 5),
      BCC: sometimes(fc.array(keys, { minLength: 1, maxLength: 2 }), 5),
      "x-death": sometimes(
        fc.oneof(
          { arbitrary: fc.array(deaths, { maxLength: 2 }), weight: 4 },
          { arbitrary: fc.constant("none"), weight: 1 },
        ),
        12,
      ),
    })
    .map((drawn) => present(drawn) as Headers);
  const to = fc.oneof(
    { arbitrary: fc.record({ exchange: fc.constantFrom(...exchangeNames), routingKey: keys }), weight: 1 },
    { arbitrary: fc.constantFrom(...queueNames).map((routingKey) => ({ exchange: "", routingKey })), weight: 3 },
  );
  return fc
    .record({ to, headers, expirationMs: sometimes(fc.constantFrom(30, longMs), 5) })
    .map(({ to: address, headers: drawn, expirationMs }) => ({
      ...address,
      headers: drawn,
      expirationMs: expirationMs ?? null,
    }));
}
