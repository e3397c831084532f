import type { System } from "../declare/system.ts";
import { type ConsumerPlan, type Plan, planAlone } from "./plan.ts";

/** Stands between the parts of a name, unless the declaration has its own templates. */
export type Separator = "." | "-";

/** The name of a source on the broker. A queue or topic in order may have a suffix of the broker's. */
export function sourceName(
  { system, sources, names }: Pick<Plan, "system" | "sources" | "names">,
  source: string,
  separator: Separator,
): string {
  return sources[source]?.name ?? fill(names?.source ?? `{system}${separator}{source}`, { system, source });
}

/** The beginning of the names of queues and exchanges that consumers share. */
export function sharedPrefix({ system, names }: Pick<Plan, "system" | "names">): string {
  return fill(names?.shared ?? "{system}", { system });
}

/** The part of a consumer that decides its names. */
type Named = Pick<ConsumerPlan, "consumer" | "formerly" | "queue" | "deadQueue">;

/** The name of a consumer on the broker. */
export function nameOfConsumer({ consumer, formerly }: Pick<ConsumerPlan, "consumer" | "formerly">): string {
  return formerly ?? consumer;
}

/** The names of a consumer's work queue, its dead queue, and its queue for parked letters. */
export function queueNames(
  { system, names }: Pick<Plan, "system" | "names">,
  { queue: own, deadQueue, ...named }: Named,
  separator: Separator,
): { readonly work: string; readonly dead: string; readonly parked: string } {
  const consumer = nameOfConsumer(named);
  const work = own ?? fill(names?.queue ?? `{system}${separator}{consumer}`, { system, consumer });
  const dead = deadQueue ?? fill(names?.dead ?? `{queue}${separator}dead`, { system, consumer, queue: work });
  return { work, dead, parked: parkedName(work, separator) };
}

/** True if the template for dead queues gives all consumers one name. */
export function sharesDeadNames({ names }: Pick<Plan, "names">): boolean {
  return names?.dead !== undefined && !/\{(queue|consumer)\}/.test(names.dead);
}

/**
 * The name of the one dead queue of a system, if the target asks for it.
 *
 * @param byDefault its name unless the template for dead queues gives all consumers one
 */
export function sharedDeadName(plan: Pick<Plan, "system" | "names">, byDefault: string): string {
  return sharesDeadNames(plan) ? fill(plan.names?.dead ?? "", { system: plan.system }) : byDefault;
}

/** The declared names of a consumer's queues. A broker may add a suffix. */
export function namesOfQueues(system: System, consumer: string, separator: Separator): ReturnType<typeof queueNames> {
  const alone = planAlone(system, consumer);
  return queueNames(alone, alone.consumers[0] ?? { consumer }, separator);
}

/** The name of the queue for parked letters. */
export function parkedName(work: string, separator: Separator): string {
  return `${work}${separator}parked`;
}

/** The place in a declaration that gives the system its name on the broker. */
export function pathOfSystem({ namedBy }: Pick<Plan, "namedBy">): readonly string[] {
  return [namedBy ?? "name"];
}

/** The place in a declaration that decides the name of a consumer's work queue. */
export function pathOfQueue(
  { names }: Pick<Plan, "names">,
  { consumer, queue, formerly }: Pick<ConsumerPlan, "consumer" | "formerly" | "queue">,
): readonly string[] {
  if (queue !== undefined) return ["consumers", consumer, "queue"];
  if (formerly !== undefined) return ["consumers", consumer, "formerly"];
  return names?.queue === undefined ? ["consumers", consumer] : ["names", "queue"];
}

/**
 * The place in a declaration that decides the name of a consumer's own resource. All names but that of the dead queue
 * begin with the name of the work queue.
 */
export function pathOfOwn(plan: Pick<Plan, "names" | "consumers">, consumer: string, role: string): readonly string[] {
  const planned: Named = plan.consumers.find((each) => each.consumer === consumer) ?? { consumer };
  return role === "dead" ? pathOfDead(plan, planned) : pathOfQueue(plan, planned);
}

/** The place in a declaration that decides the name of a consumer's dead queue. */
export function pathOfDead(plan: Pick<Plan, "names">, planned: Named): readonly string[] {
  if (planned.deadQueue !== undefined) return ["consumers", planned.consumer, "deadLetter", "queue"];
  return plan.names?.dead === undefined ? pathOfQueue(plan, planned) : ["names", "dead"];
}

/** The place in a declaration that decides the name of a source. */
export function pathOfSource({ sources, names }: Pick<Plan, "sources" | "names">, source: string): readonly string[] {
  if (sources[source]?.name !== undefined) return ["sources", source, "name"];
  return names?.source === undefined ? ["sources", source] : ["names", "source"];
}

/** Replaces each placeholder by its value. A value is never looked at again. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
