import { type Description, describeEntity, durationOf, type EntityKind, forwardTarget, isTrue } from "./description.ts";
import { ManagementError } from "./description.ts";
import { checkDescription } from "./limits.ts";
import {
  type RuleFilter,
  type Semantics,
  semanticsOf,
  type ServicebusQueue,
  type ServicebusSubscription,
  type Sku,
} from "./redeliver.ts";

/** A registered queue, topic or subscription. */
export interface Entity {
  readonly kind: EntityKind;
  /** The name that clients use. A subscription's is `<topic>/Subscriptions/<name>`. */
  readonly path: string;
  readonly description: Description;
  /** By name; of subscriptions only. */
  readonly rules: ReadonlyMap<string, Rule>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Rule {
  readonly filter: RuleFilter;
  readonly createdAt: Date;
}

const longestPath = 260;
const longestSubscriptionName = 50;

/** The registered entities of a namespace in a tier, and their semantics. */
export class Registry {
  readonly sku: Sku;
  readonly #entities = new Map<string, Entity>();
  #semantics: Semantics | undefined;

  constructor(sku: Sku) {
    this.sku = sku;
  }

  /** The semantics of the present entities, built again after each change. */
  get semantics(): Semantics {
    this.#semantics ??= semanticsOf({
      queues: this.list("queue").map(queueOf),
      topics: this.list("topic").map(({ path, description }) => ({
        name: path,
        source: path,
        timeToLiveMs: timeToLiveMs(description),
        duplicateDetectionMs: duplicateDetectionMs(description),
      })),
      subscriptions: this.list("subscription").map(subscriptionOf),
    });
    return this.#semantics;
  }

  list(kind: EntityKind): readonly Entity[] {
    return [...this.#entities.values()].filter((entity) => entity.kind === kind);
  }

  /** Names are compared without upper and lower case. */
  find(path: string): Entity | undefined {
    return this.#entities.get(path.toLowerCase());
  }

  /** @throws ManagementError if the service would refuse it */
  create(kind: EntityKind, path: string, given: Description): Entity {
    if (this.find(path) !== undefined) throw new ManagementError(409, `The entity ${path} exists already.`);
    this.#checkName(kind, path);
    const now = new Date();
    const description = this.#checked(kind, path, given, null);
    return this.#put({ kind, path, description, rules: new Map(), createdAt: now, updatedAt: now });
  }

  /** @throws ManagementError if the service would refuse it */
  update(path: string, given: Description): Entity {
    const entity = this.find(path);
    if (entity === undefined) throw new ManagementError(404, `The entity ${path} could not be found.`);
    const description = this.#checked(entity.kind, entity.path, given, entity.description);
    return this.#put({ ...entity, description, updatedAt: new Date() });
  }

  setRules(path: string, change: (rules: Map<string, Rule>) => void): void {
    const entity = this.find(path);
    if (entity?.kind !== "subscription") throw new ManagementError(404, `There is no subscription ${path}.`);
    const rules = new Map(entity.rules);
    change(rules);
    this.#put({ ...entity, rules });
  }

  /** @returns the deleted entities; for a topic also its subscriptions */
  delete(path: string): readonly Entity[] {
    const prefix = `${path.toLowerCase()}/subscriptions/`;
    const gone = [...this.#entities].filter(([key]) => key === path.toLowerCase() || key.startsWith(prefix));
    for (const [key] of gone) this.#entities.delete(key);
    this.#semantics = undefined;
    return gone.map(([, entity]) => entity);
  }

  #put(entity: Entity): Entity {
    this.#entities.set(entity.path.toLowerCase(), entity);
    this.#semantics = undefined;
    return entity;
  }

  #checkName(kind: EntityKind, path: string): void {
    const [topic = "", name = ""] = path.split("/Subscriptions/");
    if (topic.length > longestPath)
      throw new ManagementError(
        400,
        `The entity path is ${topic.length} characters long, and ${longestPath} are allowed.`,
      );
    if (kind !== "subscription") return;
    if (name.length > longestSubscriptionName)
      throw new ManagementError(400, `The subscription name is longer than ${longestSubscriptionName} characters.`);
    if (this.find(topic)?.kind !== "topic") throw new ManagementError(404, `The topic ${topic} could not be found.`);
  }

  #checked(kind: EntityKind, path: string, given: Description, before: Description | null): Description {
    checkDescription(this.sku, kind, given);
    const { AutoDeleteOnIdle = "", ...rest } = describeEntity(kind, given, before);
    const description: Description = this.sku === "basic" ? rest : { ...rest, AutoDeleteOnIdle };
    for (const name of ["ForwardTo", "ForwardDeadLetteredMessagesTo"] as const) {
      const target = forwardTarget(description, name);
      if (target === null) continue;
      if (target.toLowerCase() === path.toLowerCase())
        throw new ManagementError(400, `The entity ${path} has an auto-forwarding policy to itself. SubCode=40000.`);
      if (!["queue", "topic"].includes(this.find(target)?.kind ?? ""))
        throw new ManagementError(400, `SubCode=40400. The destination ${target} of ${name} does not exist.`);
    }
    return description;
  }
}

function timeToLiveMs(description: Description): number | null {
  const ms = durationOf(description, "DefaultMessageTimeToLive");
  return ms === Number.POSITIVE_INFINITY ? null : ms;
}

function duplicateDetectionMs(description: Description): number | null {
  return isTrue(description, "RequiresDuplicateDetection")
    ? durationOf(description, "DuplicateDetectionHistoryTimeWindow")
    : null;
}

function receivable(
  description: Description,
): Omit<ServicebusQueue, "kind" | "name" | "role" | "consumer" | "duplicateDetectionMs"> {
  return {
    lockDurationMs: durationOf(description, "LockDuration"),
    maxDeliveryCount: Number(description["MaxDeliveryCount"]),
    timeToLiveMs: timeToLiveMs(description),
    deadLetterOnExpiration: isTrue(description, "DeadLetteringOnMessageExpiration"),
    requiresSession: isTrue(description, "RequiresSession"),
    forwardTo: forwardTarget(description, "ForwardTo"),
    forwardDeadLetteredTo: forwardTarget(description, "ForwardDeadLetteredMessagesTo"),
  };
}

function queueOf({ path, description }: Entity): ServicebusQueue {
  const own = { kind: "queue", name: path, role: "work", consumer: null } as const;
  return { ...own, ...receivable(description), duplicateDetectionMs: duplicateDetectionMs(description) };
}

function subscriptionOf({ path, description, rules }: Entity): ServicebusSubscription {
  const [topic = "", name = ""] = path.split("/Subscriptions/");
  return {
    kind: "subscription",
    topic,
    name,
    consumer: name,
    ...receivable(description),
    deadLetterOnFilterError: isTrue(description, "DeadLetteringOnFilterEvaluationExceptions"),
    rules: [...rules].map(([name, { filter }]) => ({ name, filter })),
  };
}
