import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import { pathOfDead, pathOfQueue, pathOfSource, pathOfSystem, sharedPrefix } from "../../../plan/names.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import {
  longName,
  nameClashes,
  oncePerTemplate,
  refuseHalfOpaque,
  refuseUnnamed,
} from "../../../contract/shared-problems.ts";
import { refuseSourceArguments } from "../../../contract/source-arguments.ts";
import { rabbitmqLimits } from "./capabilities.ts";
import {
  attemptExchangePrefix,
  consumerNames,
  longestScheduleName,
  reservedKeyPrefix,
  sourceExchange,
} from "./names.ts";

/** Finds names that no exchange or queue may have, and two sources that would be one exchange. */
export function diagnoseNames(plan: Plan): Diagnostic[] {
  return oncePerTemplate([
    ...brokersOwn(pathOfSystem(plan), plan.system),
    ...sharedProblems(plan),
    ...Object.keys(plan.sources).flatMap((source) => sourceProblems(plan, source)),
    ...refuseSourceArguments(plan.sources, null),
    ...sourceClashes(plan),
    ...plan.consumers.flatMap((consumer) => queueProblems(plan, consumer)),
  ]);
}

/** Without a template of its own, the system's name begins the names of shared resources. */
function sharedProblems(plan: Plan): Diagnostic[] {
  const prefix = sharedPrefix(plan);
  const path = plan.names?.shared === undefined ? pathOfSystem(plan) : ["names", "shared"];
  return [
    ...(path.length === 1 ? [] : brokersOwn(path, prefix)),
    ...nameProblems(path, prefix, longestScheduleName(prefix)),
  ];
}

/** Another team's exchange cannot be renamed here. */
const bindOwn = "bind an exchange with a plain name to it, and use that one as the source";

function sourceClashes(plan: Plan): Diagnostic[] {
  const named = Object.keys(plan.sources).map((source) => {
    return {
      name: sourceExchange(plan, source),
      pathOf: () => pathOfSource(plan, source),
      what: `the source ${source}`,
    };
  });
  const help = "declare one source for the exchange, and list the keys or the matches of both in from";
  return nameClashes(plan, named, "each source is an exchange of its own").map((each) =>
    each.path === "names.source" ? each : { ...each, help },
  );
}

/** True if the declaration gives the name or its template, and not only the key that the name is derived from. */
function isNamed(path: readonly string[]): boolean {
  return path[0] === "names" || path.length > 2;
}

/** An exchange that somebody else made may be one of the broker's own, such as `amq.topic`. */
function sourceProblems(plan: Plan, source: string): Diagnostic[] {
  const planned = plan.sources[source];
  if (planned === undefined) return [];
  const { name, owner } = planned;
  const exchange = sourceExchange(plan, source);
  const half = [...refuseHalfOpaque(source, planned), ...refuseUnnamed(plan, source, exchange)];
  if (half.length > 0) return half;
  const path = pathOfSource(plan, source);
  const reserved = attemptExchangePrefix(sharedPrefix(plan));
  if (exchange.startsWith(reserved))
    return diagnosed("RD204", {
      path,
      message: `names of exchanges that start with ${reserved} are reserved`,
      value: name ?? source,
      notes: ["exchanges with these names tell the number of the attempt"],
      help: "choose another name for the source",
    });
  return [
    ...(owner === "other" || !isNamed(path) ? [] : brokersOwn(path, exchange)),
    ...nameProblems(path, isNamed(path) ? exchange : source, exchange).map((each) =>
      owner === "other" ? { ...each, help: bindOwn } : each,
    ),
  ];
}

function brokersOwn(path: readonly string[], name: string): Diagnostic[] {
  if (!/^amq$|^amq\./.test(name)) return [];
  return diagnosed("RD204", {
    path,
    message: "names that start with amq. are the broker's own",
    value: name,
    notes: ["RabbitMQ refuses to declare them (403 ACCESS_REFUSED)"],
    help: path[0] === "sources" ? 'use owner: "other" if it is to be used as it is' : "choose another name",
  });
}

/** A name of the declaration's own has to be usable by itself, and the names that are derived from it, too. */
function queueProblems(all: Plan, plan: ConsumerPlan): Diagnostic[] {
  const names = consumerNames(all, plan);
  const path = pathOfQueue(all, plan);
  const longest = names.attemptKey(plan.retry?.attempts.length ?? 1);
  const queue = [
    ...(names.workQueue.startsWith(reservedKeyPrefix)
      ? diagnosed("RD204", {
          path,
          message: `names of queues that start with ${reservedKeyPrefix} are reserved`,
          value: names.workQueue,
          notes: [
            "the default exchange routes by the queue's name, and a key with this beginning names the next attempt",
          ],
          help: "choose another name for the queue",
        })
      : []),
    ...(isNamed(path) ? brokersOwn(path, names.workQueue) : []),
    ...nameProblems(path, isNamed(path) ? names.workQueue : plan.consumer, longest),
  ];
  const dead = pathOfDead(all, plan);
  if (dead.join() === path.join()) return queue;
  return [...queue, ...brokersOwn(dead, names.dead), ...nameProblems(dead, names.dead, names.dead)];
}

/** @param longest the longest name or routing key that is derived from the name */
function nameProblems(path: readonly string[], name: string, longest: string): Diagnostic[] {
  const problem = (message: string, note: string, help: string): Diagnostic[] =>
    diagnosed("RD204", { path, message, value: name, notes: [note], help });
  if (/[/@]/.test(name))
    return problem(
      `the name ${JSON.stringify(name)} has a ${name.includes("/") ? "/" : "@"} in it`,
      "the Pulumi provider splits its resource ids at / and @, and would find another resource, or none",
      "use letters, digits, dots, dashes and underscores",
    );
  if (/^\d+$/.test(name))
    return problem(
      `the name ${JSON.stringify(name)} is a number`,
      "the Pulumi provider turns a name of digits into a number, and RabbitMQ then refuses it",
      `give it a name with a letter in it, for example "c${name}"`,
    );
  if (name.trim() !== name)
    return problem(
      "the name has a blank at its start or end",
      "such names look alike on a screen",
      "use letters, digits, dots, dashes and underscores",
    );
  return longName({ path, name, what: "a name", longest, most: rabbitmqLimits.nameBytes, unit: "bytes" });
}
