import { brokers } from "../src/index.ts";

/** Differences from the base system. A consumer that is null is not declared. */
export interface Edit {
  readonly name?: string;
  readonly formerly?: string;
  readonly names?: object;
  readonly sources?: object;
  /** The consumer that changes. */
  readonly billing?: object | null;
  readonly mail?: object | null;
  readonly others?: Readonly<Record<string, object>>;
  /** Differences from the base target. */
  readonly target?: Readonly<Record<string, unknown>> & { readonly strategies?: Readonly<Record<string, string>> };
}

/** One change. It is computed on each broker, under each strategy that both sides compile for. */
export interface ChangeCase {
  readonly name: string;
  readonly before: Edit;
  readonly after: Edit;
  /** The tests that make it on a broker: a file of `test/integration`, and the part of a name without variables. */
  readonly live: readonly string[];
}

const goneInOrder = "servicebus-deployment-changes: a consumer in order that goes leaves its subscription";
const oneDeadQueue = "migration: one dead queue for all consumers";
const fewerInSteps = "migration: 3 attempts in place of 12";
const ownDeadQueue = "migration: a dead queue for each consumer";
const oneOnSqs = "sqs-migrate: --next follows the steps of a migration";
const deadQueueOnServicebus = "servicebus-deployment-changes: all dead letters go to a shared queue";

/** The strategies that a test runs under, or all of a file. Left out for all that the broker has. */
export const strategiesIn: Readonly<Record<string, readonly string[]>> = {
  "deployment-changes": ["staged", "waits"],
  "broker-upgrade": ["staged", "waits"],
  "migrate-upgrade": ["staged", "waits"],
  "migration: another strategy, because jitter comes": ["native", "staged"],
  "migrate-apply": ["native", "staged"],
  "sqs-deployment-changes": ["redrive"],
  "servicebus-deployment-changes": ["scheduled"],
  [goneInOrder]: ["immediate"],
  [deadQueueOnServicebus]: ["immediate"],
  [fewerInSteps]: ["staged"],
  [oneDeadQueue]: ["native", "staged", "waits"],
  [ownDeadQueue]: ["native", "staged", "waits"],
  "sqs-migrate": ["redrive"],
  "servicebus-migrate": ["immediate", "scheduled"],
};

const billing = (own: object): Edit => ({ billing: own });
const retry = (own: object): Edit => billing({ retry: own });
const constant = (delay: string, more: object = {}): Edit => retry({ backoff: { kind: "constant", delay, ...more } });
const keys = (...all: readonly string[]): Edit => billing({ from: { orders: all } });
const crash = (deliveries: number): Edit => billing({ crash: { deliveries } });
const on = (target: Edit["target"] & object, more: Edit = {}): Edit => ({ ...more, target });
const topic = { kind: "topic" };
const taking = (...from: readonly string[]): Edit => ({
  sources: { orders: topic, sales: topic },
  billing: { from: Object.fromEntries(from.map((source) => [source, ["order.placed"]])) },
});
const fromSales = { from: { sales: ["order.placed"] } };
const retain = (time: string): Edit => billing({ deadLetter: { retain: time } });
const renamed = (invoices: object): Edit => ({ billing: null, others: { invoices } });
const withoutSources: Edit = { sources: {}, billing: { from: undefined }, mail: { from: undefined } };

const change = (name: string, before: Edit, after: Edit, ...live: readonly string[]): ChangeCase => {
  return { name, before, after, live };
};
const everywhere = (name: string): readonly string[] =>
  ["", "sqs-", "servicebus-"].map((broker) => `${broker}deployment-changes: ${name}`);
const stepsOnServicebus = "servicebus-migrate: --next follows the steps of a migration";
const forName = [
  "migration: another name for the work queue",
  "migrate-back: no kill on the way back from a migration loses a message",
  "sqs-migrate: --next follows the steps of a migration",
  stepsOnServicebus,
];
const forOrder = [
  "sqs-migrate: a migration keeps the order of each key",
  "servicebus-migrate: keeps every message, and the declared order",
];
const [, orderOnServicebus = ""] = forOrder;
const forJitter = [
  "migration: another strategy, because jitter comes",
  "migrate-apply: no kill of a migration loses a message",
];
const delaysAndKeys = "deployment-changes: other delays and keys";
const olderTarget = "deployment-changes: from the target ";
const takenOver = "broker-upgrade: RabbitMQ 4.3 takes over the messages of 4.0";
const upgraded = "migrate-upgrade: from $older under $from to $newer under $to";
const upTo = (version: string, strategy: string): Edit => on({ version, strategies: { billing: strategy } });
const jitter = constant("10s", { jitter: "20%" });
const minute = billing({ handlerTimeout: "1m" });
const alone = (own: object): Edit => ({ mail: null, billing: { handlerTimeout: undefined, ...own } });
// A strategy that is named is not kept: a consumer without a work queue has none.
const everyInstance = on({ strategy: "waits" }, alone({ delivery: "every-instance", retry: undefined }));
const long = { retry: { attempts: 1 }, handlerTimeout: "11h", deadLetter: { retain: "13d" } };
/** Other brokers have no region, so the change is theirs neither. */
const onSqs = (own: object): Edit => on({ region: "eu-west-1" }, billing(own));
const ordered = { order: "per-key" };
const orderedFrom = (source: string): Edit => ({
  ...taking(source),
  billing: { ...ordered, from: { [source]: "all" } },
});
const bothOrdered: Edit = { billing: ordered, mail: ordered };
const orderedQueue = (own: object): Edit => billing({ ...ordered, from: undefined, ...own });
const strategyChanges = Object.values(brokers).flatMap(({ strategyNames }) =>
  strategyNames.map((strategy) => {
    const after = strategy === "immediate" ? retry({ backoff: { kind: "immediate" } }) : constant("10s");
    const named = on({ strategies: { billing: strategy } }, after);
    return change(`to \`${strategy}\``, {}, named, "migration: ${from} to ${to}");
  }),
);

/** In the order of the tables. */
export const changeCases: readonly ChangeCase[] = [
  change("a consumer renamed with `formerly`", {}, renamed({ formerly: "billing" })),
  change("permanent errors", {}, billing({ errors: { permanent: ["ValidationError"] } })),
  change("a longer delay", {}, constant("30s"), delaysAndKeys),
  change("a shorter delay", {}, constant("1s")),
  change("jitter added", {}, jitter, ...forJitter),
  change("jitter removed", jitter, {}),
  change("a delay that grows", {}, retry({ backoff: { kind: "exponential", first: "1s", factor: 2 } })),
  change("more attempts", {}, retry({ attempts: 6 }), "deployment-changes: fewer attempts, and more again"),
  change("fewer attempts", {}, retry({ attempts: 2 }), "fewer-attempts: ${strategy} on ${broker.fullVersion}"),
  change("one attempt", {}, retry({ attempts: 1 }), "deployment-changes: one attempt in place of several"),
  change("3 attempts in place of 12", retry({ attempts: 12 }), retry({ attempts: 3 }), fewerInSteps),
  change("a crash budget where none was declared", {}, crash(8)),
  change("a smaller crash budget", crash(8), crash(3)),
  change("a longer `handlerTimeout`", {}, minute),
  change("a shorter `handlerTimeout`", minute, {}),
  ...strategyChanges,
  change("other routing keys", keys("order.placed", "order.late"), keys("order.placed", "order.lost"), delaysAndKeys),
  change("one source more in `from`", taking("orders"), taking("orders", "sales")),
  change("one source less in `from`", taking("orders", "sales"), taking("orders")),
  change("an unused source removed", taking("orders"), {}),
  change("a source in use removed", taking("orders", "sales"), {}),
  change(
    "a source renamed",
    {},
    { sources: { sales: topic }, billing: fromSales, mail: fromSales },
    "deployment-changes: a source renamed",
    "migration: another source, and another work queue",
  ),
  change(
    "a source of another kind",
    {},
    { sources: { orders: { kind: "direct" } } },
    "deployment-changes: a source of another kind",
    "migration: a source of another kind",
    "migrate-sources: publishers leave a source of another kind",
  ),
  change("a consumer added", {}, { others: { audit: {} } }, "deployment-changes: a consumer more"),
  change("a consumer removed", {}, { billing: null }, ...everywhere("a consumer removed"), stepsOnServicebus),
  change("a consumer renamed without `formerly`", {}, renamed({}), ...everywhere("a consumer renamed")),
  change("the system renamed with `formerly`", {}, { name: "store", formerly: "shop" }),
  change("the system renamed without `formerly`", {}, { name: "store" }, ...everywhere("the system renamed")),
  change("the system renamed without `formerly`, and a queue keeps its name", billing({ queue: "q" }), {
    name: "store",
    ...billing({ queue: "q" }),
  }),
  change("another `queue`", {}, billing({ queue: "invoices" }), ...forName),
  change("`names.queue`", {}, { names: { queue: "q-{system}-{consumer}" } }),
  change("`deadLetter.queue`", {}, billing({ deadLetter: { queue: "lost" } })),
  change("`names.dead`", {}, { names: { dead: "{queue}-dlq" } }),
  change("`names.source`", {}, { names: { source: "events-{system}-{source}" } }),
  change("`names.shared`", {}, { names: { shared: "{system}-x" } }),
  change("a queue that passes to another consumer", billing({ queue: "q" }), { mail: { queue: "q" } }),
  change("`queueArguments`", {}, billing({ queueArguments: { singleActiveConsumer: true } })),
  change(
    "`queueSettings`",
    {},
    billing({ queueSettings: "policy" }),
    "migration: the settings of the queue into a policy",
  ),
  change("`deadLetter.queueSettings`", {}, billing({ deadLetter: { queueSettings: "policy" } })),
  change('`delivery: "every-instance"`', alone({}), everyInstance),
  change("target 3.10 to 4.0", on({ version: "3.10" }), on({ version: "4.0" }), olderTarget),
  change("target 3.10 to 4.3", on({ version: "3.10" }), on({ version: "4.3" })),
  change("target 3.10 to 4.0, and to `staged`", on({ version: "3.10" }), upTo("4.0", "staged"), upgraded),
  change("target 3.10 to 4.3, and to `native`", on({ version: "3.10" }), upTo("4.3", "native"), upgraded),
  change("target 3.13 to 4.3, and to `native`", on({ version: "3.13" }), upTo("4.3", "native"), upgraded),
  change("target 4.0 to 4.3", on({ version: "4.0" }), on({ version: "4.3" }), olderTarget, takenOver),
  change("dead letters kept for longer", retain("1d"), retain("10d")),
  change("dead letters kept for less time", retain("10d"), retain("1d")),
  change(
    "3 attempts of 5 s in place of one of 11 h",
    onSqs(long),
    onSqs({ retry: { attempts: 3 }, deadLetter: long.deadLetter }),
  ),
  change('`order: "per-key"` for all consumers of a source', {}, bothOrdered, orderOnServicebus),
  change("no such order any more", bothOrdered, {}, orderOnServicebus),
  change('`order: "per-key"` for one of two', {}, billing(ordered)),
  change("such order for one of two no more", bothOrdered, { mail: ordered }),
  change("another `queue` of a consumer in order", orderedQueue({}), orderedQueue({ queue: "invoices" }), ...forOrder),
  change(
    "another `deadLetter.queue` with `order`",
    billing(ordered),
    billing({ ...ordered, deadLetter: { queue: "lost" } }),
  ),
  change(
    "`names.source` with `order`",
    bothOrdered,
    { ...bothOrdered, names: { source: "events-{source}" } },
    orderOnServicebus,
  ),
  change("a consumer in order removed", bothOrdered, { billing: null, mail: ordered }),
  change("the last consumer in order removed", billing(ordered), { billing: null }, goneInOrder),
  change("`from` removed with `order`", billing(ordered), orderedQueue({})),
  change("another source in `from` with `order`", orderedFrom("orders"), orderedFrom("sales")),
  change("another region", {}, on({ region: "eu-central-1" })),
  change(
    "duplicate detection added",
    {},
    on({ duplicates: "10m" }),
    "servicebus-migrate: keeps every message, and the declared order",
  ),
  change("duplicate detection added for one of two", {}, on({ duplicates: { billing: "10m" } })),
  change("duplicate detection removed", on({ duplicates: "10m" }), {}),
  change("`deadQueue: shared`", {}, on({ deadQueue: "shared" }), oneDeadQueue, oneOnSqs, deadQueueOnServicebus),
  change(
    "`deadQueue: own`",
    on({ deadQueue: "shared" }),
    on({ deadQueue: "own" }),
    ownDeadQueue,
    deadQueueOnServicebus,
  ),
  change("tier basic to standard", on({ sku: "basic" }, withoutSources), on({ sku: "standard" }, withoutSources)),
  change("tier standard to premium", {}, on({ sku: "premium" })),
];
