import { asDuration } from "../declare/duration.ts";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.ts";
import { wholeName } from "../foreign/purpose.ts";
import { backoffOf } from "./backoff-of.ts";
import { newQueueNames } from "./new-queue-names.ts";
import type { FoundConsumer, FoundSource, FoundSystem, Inferred, Unsaid } from "./found.ts";

/** A comment on one property of a declaration. */
export interface Comment {
  readonly path: readonly string[];
  readonly text: string;
}

/** A declaration as a person writes it, with the origin of each value. */
export interface DraftDeclaration {
  readonly system: DraftSystem;
  readonly comments: readonly Comment[];
  readonly unsaid: readonly Unsaid[];
  readonly warnings: readonly Diagnostic[];
  /** The queues that are left out, because the declaration has another one of the same name. */
  readonly refused: readonly Unsaid[];
  /** The settings that its target needs beside the place. */
  readonly options: Readonly<Record<string, unknown>>;
}

interface DraftSystem {
  readonly name: string;
  readonly consumers: Readonly<Record<string, object>>;
  readonly [property: string]: unknown;
}

/**
 * Writes the declaration that keeps the names on the broker, and comes nearest to the rest.
 *
 * @param name the name of the system
 * @param separator stands between the parts of default names
 */
export function declareFound(found: FoundSystem, name: string, separator: string): DraftDeclaration {
  const all = found.consumers;
  const prefix = `${name}${separator}`;
  const isPrefixed = all.every(
    ({ queue, key }) => key !== undefined || (queue.startsWith(prefix) && queue.length > prefix.length),
  );
  const keys = new Map(all.map(({ queue, key = isPrefixed ? queue.slice(prefix.length) : queue }) => [queue, key]));
  const keyOf = ({ queue }: FoundConsumer): string => keys.get(queue) ?? queue;
  const consumers = [...Map.groupBy(all, keyOf).values()].flatMap(firstOf);
  const byDefault = `{queue}${separator}dead`;
  const { shared, dead } = deadNames(consumers, found, byDefault);
  const names = {
    ...(isPrefixed ? {} : { queue: "{consumer}" }),
    ...(dead === byDefault ? {} : { dead }),
  };
  const sources = sourceKeys([...consumers.flatMap((each) => each.sources), ...found.unusedSources], prefix);
  const ownDead = ownDeadQueues(consumers, shared, dead);
  const newNames = newQueueNames(
    consumers,
    found.taken ?? [],
    separator,
    (each) => `${isPrefixed ? prefix : ""}${keyOf(each)}`,
  );
  const written = consumers.map((each) => {
    // A queue has its settings as arguments unless a declaration says otherwise.
    const isKept = !shared.has(each.dead?.value ?? "") && each.deadQueueSettings?.value === "policy";
    const deadLetter = { dead: ownDead.get(each), deadQueueSettings: isKept ? each.deadQueueSettings : undefined };
    return consumerFrom({ ...each, ...deadLetter }, keyOf(each), sources, newNames.get(each));
  });
  const options = targetOptions({ ...found, consumers }, keyOf);
  const foreign = [...sources]
    .filter(([, { source }]) => !source.isOwn && source.isForeign !== true)
    .map(([exchange]) => exchange);
  return {
    system: {
      name,
      ...(Object.keys(names).length === 0 ? {} : { names }),
      ...(sources.size === 0
        ? {}
        : { sources: Object.fromEntries([...sources.values()].map((each) => [each.key, each.declared])) }),
      consumers: Object.fromEntries(written.map(({ key, declared }) => [key, declared])),
    },
    comments: [
      ...(isPrefixed
        ? []
        : [{ path: ["names", "queue"], text: "a work queue has the name of its consumer, as today" }]),
      ...(dead === byDefault ? [] : [{ path: ["names", "dead"], text: "the dead queues are named as today" }]),
      ...[...sources.values()].map(({ key, source }) => ({ path: ["sources", key], text: source.from })),
      ...written.flatMap(({ comments }) => comments),
    ],
    options,
    refused: all
      .filter((each) => !consumers.includes(each))
      .map((each) => ({
        place: each.queue,
        fact: `it is left out: ${keyOf(each)} is the name of another consumer, too; adopt it alone with --queue (${each.from})`,
      })),
    unsaid: [
      ...found.unsaid,
      ...(foreign.length === 0
        ? []
        : [
            {
              place: foreign.join(", "),
              fact: "nothing shows who makes it, so it is declared as another owner's; if this system is to make it, take away owner and keep name, because publishers know this one",
            },
          ]),
    ],
    warnings: [...shared].map(ofSharedQueue),
  };
}

/** Of consumers with one name, one that keeps its queue goes before those that would get a new one. */
function firstOf(same: readonly FoundConsumer[]): readonly FoundConsumer[] {
  return [...same.filter(({ isNewQueue }) => isNewQueue !== true), ...same].slice(0, 1);
}

/** The settings of the target, which stand in no declaration. */
export function unsaidOptions(options: Readonly<Record<string, unknown>>): readonly Unsaid[] {
  if (Object.keys(options).length === 0) return [];
  return [{ place: "the target", fact: `it needs these settings in a file of its own: ${JSON.stringify(options)}` }];
}

function ofSharedQueue([queue, owners]: readonly [string, readonly FoundConsumer[]]): Diagnostic {
  return diagnostic("RD333", {
    path: ["queues", queue],
    message: `${queue} has the dead letters of ${owners.map((each) => each.queue).join(", ")}`,
    notes: [
      "each consumer has a dead queue of its own, unless all of a system share one (deadQueue: shared in the target)",
      ...(owners.every(({ order }) => order === undefined) ? [] : ["consumers in order cannot share one"]),
    ],
    help: `leave ${queue} where it is until nobody needs its letters`,
  });
}

interface KeyedSource {
  readonly key: string;
  readonly source: FoundSource;
  readonly declared: object;
}

/** A key in the declaration for each source, by its name on the broker. */
function sourceKeys(all: readonly FoundSource[], prefix: string): ReadonlyMap<string, KeyedSource> {
  const keyed = new Map<string, KeyedSource>();
  const taken = new Set<string>();
  for (const source of all) {
    if (keyed.has(source.name)) continue;
    const isDefault = source.isOwn && source.name.startsWith(prefix);
    let key = source.key ?? (isDefault ? source.name.slice(prefix.length) : source.name);
    while (taken.has(key)) key = `${key}-2`;
    taken.add(key);
    const physical = isDefault ? {} : { name: source.name, ...(source.isOwn ? {} : { owner: "other" }) };
    keyed.set(source.name, {
      key,
      source,
      declared: { kind: source.kind, ...(source.type === undefined ? {} : { exchangeType: source.type }), ...physical },
    });
  }
  return keyed;
}

/** The settings of single consumers stand below their names in the declaration. */
function targetOptions(
  { options, consumers }: FoundSystem,
  keyOf: (found: FoundConsumer) => string,
): Readonly<Record<string, unknown>> {
  const own: Record<string, Record<string, unknown>> = {};
  for (const each of consumers)
    for (const [name, value] of Object.entries(each.options ?? {})) (own[name] ??= {})[keyOf(each)] = value;
  return { ...options, ...own };
}

function consumerFrom(
  found: FoundConsumer,
  key: string,
  sources: ReadonlyMap<string, KeyedSource>,
  newName: Inferred<string> | undefined,
): { readonly key: string; readonly declared: object; readonly comments: readonly Comment[] } {
  const { delaysMs, crashDeliveries, handlerTimeoutMs, retainMs, parked, dead, order } = found;
  const { queueArguments, lengthLimits, queueSettings, deadQueueSettings } = found;
  const path = ["consumers", key];
  const said = (value: { readonly from: string } | undefined, ...rest: readonly string[]): readonly Comment[] =>
    value === undefined ? [] : [{ path: [...path, ...rest], text: value.from }];
  const from = found.sources.map(({ name, keys }) => [sources.get(name)?.key ?? name, keys] as const);
  const deadLetter = {
    ...(retainMs === undefined ? {} : { retain: asDuration(retainMs.value) }),
    ...(parked === undefined ? {} : { park: true }),
    ...(dead === undefined ? {} : { queue: dead.value }),
    ...(deadQueueSettings === undefined ? {} : { queueSettings: deadQueueSettings.value }),
  };
  return {
    key,
    declared: {
      ...(newName === undefined ? {} : { queue: newName.value }),
      ...(from.length === 0 ? {} : { from: Object.fromEntries(from) }),
      retry: { attempts: delaysMs.value.length + 1, backoff: backoffOf(delaysMs.value) },
      ...(crashDeliveries === undefined ? {} : { crash: { deliveries: crashDeliveries.value } }),
      ...(handlerTimeoutMs === undefined ? {} : { handlerTimeout: asDuration(handlerTimeoutMs.value) }),
      ...(Object.keys(deadLetter).length === 0 ? {} : { deadLetter }),
      ...(queueArguments === undefined && lengthLimits === undefined
        ? {}
        : { queueArguments: { ...queueArguments?.value, ...lengthLimits?.value } }),
      ...(queueSettings === undefined ? {} : { queueSettings: queueSettings.value }),
      ...(order === undefined ? {} : { order: order.value }),
    },
    comments: [
      ...said(found),
      ...said(newName, "queue"),
      ...said(delaysMs, "retry"),
      ...said(crashDeliveries, "crash"),
      ...said(handlerTimeoutMs, "handlerTimeout"),
      ...said(retainMs, "deadLetter"),
      ...said(parked, "deadLetter", "park"),
      ...said(dead, "deadLetter", "queue"),
      ...said(deadQueueSettings, "deadLetter", "queueSettings"),
      ...said(queueSettings, "queueSettings"),
      ...said(queueArguments ?? lengthLimits, "queueArguments"),
      ...Object.keys(queueArguments === undefined ? {} : (lengthLimits?.value ?? {})).flatMap((key) =>
        said(lengthLimits, "queueArguments", key),
      ),
      ...said(order, "order"),
    ],
  };
}

function nameBy(template: string, { queue }: FoundConsumer): string {
  return template.replaceAll("{queue}", () => queue);
}

/** The names of dead queues by a template, and the dead queues of several consumers that no template can give them. */
function deadNames(consumers: readonly FoundConsumer[], { options, queues }: FoundSystem, byDefault: string) {
  const shared = new Map(sharedDeadQueues(consumers));
  const common = mostShared(consumers);
  if (options?.["deadQueue"] === "shared" && common !== null) {
    shared.delete(common);
    return { shared, dead: common };
  }
  const others = consumers.filter((each) => !shared.has(each.dead?.value ?? ""));
  return { shared, dead: deadTemplate(others, byDefault, new Set(queues)) };
}

/** The template that gives most dead queues the names that they have. The others get names of their own. */
function deadTemplate(consumers: readonly FoundConsumer[], byDefault: string, taken: ReadonlySet<string>): string {
  const candidates = consumers
    .flatMap(({ queue, dead }) => (dead === undefined ? [] : [dead.value.replace(wholeName(queue), () => "{queue}")]))
    // A name without the queue's own would be the same for every consumer.
    .filter((template) => template.includes("{queue}") && template !== "{queue}")
    .filter((template) => !/[{}]/.test(template.replaceAll("{queue}", "")));
  // The dead queue of one consumer would be a queue of another purpose.
  const isClash = (template: string): boolean =>
    consumers.some((each) => each.dead === undefined && taken.has(nameBy(template, each)));
  const fits = (template: string): number =>
    isClash(template) ? -1 : consumers.filter((each) => nameBy(template, each) === each.dead?.value).length;
  return candidates.reduce((one, other) => (fits(other) > fits(one) ? other : one), byDefault);
}

/** The dead queues that have a name of their own, because the template gives another. */
function ownDeadQueues(
  consumers: readonly FoundConsumer[],
  shared: ReadonlyMap<string, unknown>,
  template: string,
): ReadonlyMap<FoundConsumer, FoundConsumer["dead"]> {
  const nameOf = (each: FoundConsumer): string =>
    each.dead === undefined || shared.has(each.dead.value) ? nameBy(template, each) : each.dead.value;
  const owners = Map.groupBy(consumers, nameOf);
  const isOwn = (each: FoundConsumer): boolean =>
    nameOf(each) !== nameBy(template, each) && owners.get(nameOf(each))?.length === 1;
  return new Map(consumers.filter(isOwn).map((each) => [each, each.dead]));
}

/** The dead queue of the most consumers that can share one. Those in order cannot. */
export function mostShared(consumers: readonly FoundConsumer[]): string | null {
  const owners = Map.groupBy(
    consumers.filter((each) => each.order === undefined && each.dead !== undefined),
    ({ dead }) => dead?.value ?? null,
  );
  const [[name] = [null]] = [...owners].toSorted(([, left], [, right]) => right.length - left.length);
  return name;
}

/** The dead queues that several consumers share. */
function sharedDeadQueues(consumers: readonly FoundConsumer[]): ReadonlyMap<string, readonly FoundConsumer[]> {
  const owners = Map.groupBy(consumers, ({ dead }) => dead?.value ?? "");
  return new Map([...owners].filter(([queue, all]) => queue !== "" && all.length > 1));
}
