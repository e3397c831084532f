import { formatDurationMs } from "../declare/duration.ts";
import { type Diagnostic, type PathSegment, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { nearest } from "../diagnostics/distance.ts";
import { pathOfQueue } from "../plan/names.ts";
import type { ConsumerPlan, Plan } from "../plan/plan.ts";
import { count } from "./in-words.ts";

type Path = readonly PathSegment[];

/** A word of a target: its version, region or tier, or its strategy. */
interface TargetWord {
  readonly field: string;
  /** What it ought to be, such as `tier of Service Bus`. */
  readonly noun: string;
  readonly given: unknown;
  readonly notes?: readonly string[];
  readonly help: string;
}

export function unknownTarget({ field, noun, given, notes = [], help }: TargetWord): Diagnostic {
  const message =
    given === "" || given === undefined ? `the target names no ${noun}` : `${JSON.stringify(given)} is no ${noun}`;
  return diagnostic("RD201", { path: ["target", field], message, value: given, notes, help });
}

/** @param broker the broker's name for a sentence */
export function unknownStrategy(broker: string, given: unknown, strategies: readonly string[]): Diagnostic[] {
  const known = ["auto", ...strategies];
  if (known.includes(given as string)) return [];
  const meant = nearest(given, known);
  const help =
    meant === undefined ? `write one of ${known.join(", ")}` : `${meant} The strategies are ${known.join(", ")}`;
  return [unknownTarget({ field: "strategy", noun: `strategy of ${broker}`, given, help })];
}

/** Refuses the keys of a mapping in a target that are not among the known ones. */
export function unknownOptions(path: Path, noun: string, given: object, known: readonly string[]): Diagnostic[] {
  const strange = Object.keys(given).filter((name) => !known.includes(name));
  return strange.map((name) => unknownOption([...path, name], noun, name, known));
}

export function unknownOption(path: Path, noun: string, name: string, known: readonly string[]): Diagnostic {
  return diagnostic("RD221", {
    path,
    message: `${JSON.stringify(name)} is no ${noun}`,
    notes: known.length === 0 ? [] : [`there are ${known.join(", ")}`],
    help: nearest(name, known) ?? "remove it",
  });
}

/** Reports a value of a target that does not have the required form. */
export function misfit(
  path: Path,
  value: unknown,
  message: string,
  help: string,
  notes: readonly string[] = [],
): Diagnostic {
  return diagnostic("RD221", { path, message, value, notes, help });
}

/** A resource that a broker knows by its name. */
interface Named {
  readonly name: string;
  /**
   * Finds the place in the declaration that names it. Null for a resource that consumers share. A search for every
   * resource would take seconds for 10,000 consumers.
   */
  readonly pathOf: () => Path | null;
  /** The resource for a sentence, such as `the dead queue of billing`. */
  readonly what: string;
}

/**
 * Finds resources of one kind with one name, once for each template.
 *
 * @param keyOf equal for two names that are one to the broker
 */
export function nameClashes(
  { names = {} }: Pick<Plan, "names">,
  named: readonly Named[],
  note = "one consumer's messages would reach the other",
  keyOf = (name: string): string => name,
): Diagnostic[] {
  const owners = new Map<string, Named>();
  const found = named.flatMap((own) => {
    const other = owners.get(keyOf(own.name));
    if (other === undefined) {
      owners.set(keyOf(own.name), own);
      return [];
    }
    const path = placeOfClash([own, other]);
    return diagnosed("RD205", {
      path,
      message: `${JSON.stringify(own.name)} would be ${other.what} and ${own.what}`,
      notes: [note],
      help: helpAt(path, names),
    });
  });
  return oncePerTemplate(found);
}

/** Refuses a template for names that nothing on the broker has. */
export function refuseTemplate(
  { names }: Pick<Plan, "names">,
  template: "dead" | "shared",
  message: string,
): Diagnostic[] {
  const value = names?.[template];
  if (value === undefined) return [];
  return diagnosed("RD204", { path: ["names", template], message, value, help: `leave names.${template} out` });
}

/** A name that a person wrote for one resource comes first, then a template, then a key that names are derived from. */
function placeOfClash(named: readonly Named[]): Path {
  const paths = named.map(({ pathOf }) => pathOf()).filter((path) => path !== null);
  const ofOne = paths.find((path) => path.length > 2);
  return ofOne ?? paths.find(([first]) => first === "names") ?? paths[0] ?? ["sources"];
}

function helpAt(path: Path, names: NonNullable<Plan["names"]>): string {
  const [first, second] = path;
  if (path.length > 2 && /^(queue|name)$/.test(String(path.at(-1)))) return "choose another name for it";
  if (first !== "names") return "rename one of the two";
  const template = names[second as keyof typeof names] ?? "";
  const needed = { queue: ["{consumer}"], dead: ["{queue}", "{consumer}"], source: ["{source}"] }[
    second as "queue" | "dead" | "source"
  ];
  if (needed.some((each) => template.includes(each))) return "change the template, or rename one of the two";
  return `put ${needed[0]} into the template${second === "dead" ? ", or deadQueue: shared into a target file" : ""}`;
}

/**
 * Finds work queues with one name. The names that are derived from it clash as well, so nothing else is reported then.
 *
 * @param nameOf null for a consumer without a work queue of its own. Equal for two names that are one to the broker
 */
export function sharedQueues(plan: Plan, nameOf: (consumer: ConsumerPlan) => string | null): Diagnostic[] {
  const named = plan.consumers.flatMap((consumer): Named[] => {
    const name = consumer.retry === null ? null : nameOf(consumer);
    const what = `the work queue of ${consumer.consumer}`;
    return name === null ? [] : [{ name, pathOf: () => pathOfQueue(plan, consumer), what }];
  });
  return nameClashes(plan, named);
}

/** Keeps one problem of each template for names. A template that is wrong for one name is wrong for most. */
export function oncePerTemplate(found: readonly Diagnostic[]): Diagnostic[] {
  const isFirst = (path: string, index: number): boolean => found.findIndex((each) => each.path === path) === index;
  return found.filter(({ path }, index) => !path.startsWith("names.") || isFirst(path, index));
}

/** An exchange of a plugin has a type, and somebody else made it. No other source has such a type. */
export function refuseHalfOpaque(source: string, { kind, owner, exchangeType }: Plan["sources"][string]): Diagnostic[] {
  if (kind === "opaque" ? owner === "other" && exchangeType !== undefined : exchangeType === undefined) return [];
  return diagnosed("RD222", {
    path: ["sources", source],
    message: "kind: opaque, exchangeType and owner: other belong together",
    notes: ["Redeliver makes no exchange of a plugin, because it does not know how that routes"],
    help: 'write for example { kind: "opaque", exchangeType: "x-consistent-hash", name: "events", owner: "other" }',
  });
}

/** Nobody else gives a source the name of this system. A template may leave that out. */
export function refuseUnnamed({ sources, names }: Plan, source: string, derived: string): Diagnostic[] {
  const { name, owner } = sources[source] ?? {};
  if (owner !== "other" || name !== undefined || names?.source?.includes("{system}") === false) return [];
  return diagnosed("RD222", {
    path: ["sources", source, "name"],
    message: `the source of another owner has no name here, so it would be ${derived}`,
    help: "write the name that its owner gave it, such as name: events",
  });
}

/** @param others the kinds that the broker does not have */
export function refuseOtherKinds(sources: Plan["sources"], broker: string, others: readonly string[]): Diagnostic[] {
  return Object.entries(sources).flatMap(([source, each]) => {
    if (!others.includes(each.kind)) return refuseHalfOpaque(source, each);
    return diagnosed("RD216", {
      path: ["sources", source, "kind"],
      message: `on ${broker}, Redeliver has no filter for a source of this kind`,
      value: each.kind,
      help: 'use kind: "topic" with routing keys, or RabbitMQ',
    });
  });
}

/** @param broker the broker's name for a sentence */
export function refuseQueueArguments(plan: ConsumerPlan, broker: string): Diagnostic[] {
  const properties = [
    [["queueArguments"], plan.queueArguments],
    [["queueSettings"], plan.queueSettings],
    [["deadLetter", "queueSettings"], plan.deadQueueSettings],
  ] as const;
  return properties.flatMap(([path, value]) =>
    value === undefined
      ? []
      : diagnosed("RD240", {
          path: ["consumers", plan.consumer, ...path],
          message: `queues of ${broker} have no such ${path[0] === "queueArguments" ? "arguments" : "settings"}`,
          value,
          notes: ["the broker would run the queue as if the declaration did not have them"],
          help: `leave ${path.join(".")} out, or use RabbitMQ`,
        }),
  );
}

/** A name in a declaration, and the longest name that is derived from it. */
interface Derived {
  readonly path: Path;
  readonly name: string;
  /** The derived name for a sentence, such as `a queue name`. */
  readonly what: string;
  readonly longest: string;
  readonly most: number;
  /** Left out for characters. */
  readonly unit?: "bytes";
}

export function longName({ path, name, what, longest, most, unit }: Derived): Diagnostic[] {
  const length = unit === "bytes" ? Buffer.byteLength(longest) : longest.length;
  if (length <= most) return [];
  return diagnosed("RD204", {
    path,
    message: `${what} derived from this would have ${length} ${unit ?? "characters"}; ${most} are allowed`,
    value: name,
    notes: [`the longest is ${longest.length > 100 ? `${longest.slice(0, 100)}…` : longest}`],
    help: longest === name ? "shorten it" : "shorten it, or the system's name",
  });
}

/**
 * @param queue the resource that would stay, such as `a queue of SQS`
 * @param other a broker whose queues end with their connection
 */
export function refuseEveryInstance({ consumer }: ConsumerPlan, queue: string, other: string): Diagnostic {
  return diagnostic("RD215", {
    path: ["consumers", consumer, "delivery"],
    message: `${queue} does not end with the instance that reads it`,
    value: "every-instance",
    notes: ["each instance would make its own, which would fill up when the instance dies"],
    help: `use delivery: "work-queue", or a target whose queues end with their connection: ${other}`,
  });
}

/**
 * Refuses a handler that may run longer than its message stays hidden.
 *
 * @param limit the vendor's limit as a sentence
 */
export function refuseHandlerTimeout(
  { consumer, handlerTimeoutMs }: ConsumerPlan,
  mostMs: number,
  limit: string,
): Diagnostic[] {
  if (handlerTimeoutMs === null || handlerTimeoutMs <= mostMs) return [];
  return diagnosed("RD218", {
    path: ["consumers", consumer, "handlerTimeout"],
    message: `the handler may run for ${formatDurationMs(handlerTimeoutMs)}; ${formatDurationMs(mostMs)} is the longest`,
    notes: [limit],
    help: "shorten the handler, or let it start the long work elsewhere",
  });
}

/** @param hiddenMs the time after which the broker delivers a message again */
export function warnOfNoTimeout({ consumer }: ConsumerPlan, hiddenMs: number, note: string): Diagnostic {
  return diagnostic("RD217", {
    path: ["consumers", consumer],
    message: `no handlerTimeout is declared, so a message comes back ${formatDurationMs(hiddenMs)} after its receive, even while its handler runs`,
    notes: [note],
    help: 'declare how long the handler may run, for example handlerTimeout: "30s"',
  });
}

/** The deliveries that a message has, and the things that spend them besides returns. */
interface Budget {
  readonly path: Path;
  readonly value?: number | undefined;
  readonly deliveries: number;
  readonly of: "failure" | "crash";
  /** False if the broker may count a return, but is not documented to do so. */
  readonly isCertain?: boolean;
  readonly notes: readonly string[];
  /** The edit that allows more returns. */
  readonly edit: string;
}

export function warnOfReturns({ path, value, deliveries, of, isCertain = true, notes, edit }: Budget): Diagnostic {
  const others = count(deliveries, of, of === "crash" ? "crashes" : "failures");
  return diagnostic("RD207", {
    path,
    message: `a message that is returned ${count(deliveries, "time")} ${isCertain ? "dies" : "may die"}, as after ${others}`,
    value,
    notes,
    help: `receive no more messages than you handle at once, so that a shutdown returns few, or ${edit}`,
  });
}
