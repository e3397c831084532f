import { leftOutByName } from "../../../../adopt/left-out-by-name.ts";
import type { FoundConsumer, FoundSystem, Unsaid } from "../../../../adopt/found.ts";
import { nothingToAdopt } from "../../../../adopt/nothing-to-adopt.ts";
import { ownedElsewhere } from "../../../../adopt/owned-elsewhere.ts";
import { systemsApart } from "../../../../adopt/systems-apart.ts";
import { asDuration, formatDurationMs } from "../../../../declare/duration.ts";
import { type Checked, accepted } from "../../../../diagnostics/diagnostic.ts";
import { nameSome } from "../../../../foreign/finding.ts";
import { parkedName } from "../../../../plan/names.ts";
import type { ServicebusTarget } from "../../compile/capabilities.ts";
import { entityFields } from "../../compile/fields.ts";
import { sharedDeadQueueName, tierName } from "../../compile/names.ts";
import type { Deployment } from "../deployment.ts";
import { type ReadEntity, isReceivedFrom, isSubscription, ownerOf, readEntities, refusalOf } from "./roles.ts";
import { sourcesInto } from "./sources-into.ts";

/** The attempts to declare if Service Bus does not end them. A person has to set the number. */
const attemptsIfEndless = 5;
/** The most attempts that a declaration takes. */
const mostAttempts = 1_000;

/**
 * Infers the consumers of one namespace. A consumer receives from a queue, or from a subscription that does not forward.
 *
 * @param only the work queues to adopt, or the paths of subscriptions; empty for all
 */
export function inferSystem(
  { namespaces }: Deployment,
  _target: ServicebusTarget,
  only: readonly string[],
  elsewhere: readonly string[] = [],
): Checked<FoundSystem> {
  const resources = namespaces[0]?.resources ?? [];
  const entities = readEntities(resources);
  const isChosen = ({ path }: ReadEntity): boolean => only.length === 0 || only.includes(path);
  const missing = only.filter((path) => entities.every((each) => each.path !== path));
  const chosen = entities.filter((each) => isChosen(each) && (only.length > 0 || isReceivedFrom(each, entities)));
  const leftOut = entities.filter((each) => !chosen.includes(each));
  const isWhole = namespaces[0]?.isWhole === true;
  const refused = chosen.flatMap((each) => [...ownedElsewhere([each.path], elsewhere), ...refusalOf(each)]);
  const work = chosen.filter(({ path }) => refused.every(({ place }) => place !== path));
  if (missing.length > 0 || work.length === 0)
    return nothingToAdopt(
      missing,
      entities.length,
      "queues that forward, and queues with the name of a dead queue,",
      refused,
    );
  const name = systemOf(work, entities);
  const isShared = name !== null && work.every((each) => each.forwardDeadLetteredTo === sharedDeadQueueName(name));
  const locks = allOf(work, "lockDurationMs");
  const longestLockMs = Math.max(...locks);
  const queues = work.filter(({ kind }) => kind === "queue");
  const [windowMs = 0, ...otherWindows] = allOf(queues, "duplicateDetectionMs");
  const context = { system: name, isWhole, detectsAlone: otherWindows.length > 0 };
  const inferred = work.map((each) => consumerOf(each, keyOf(each, name), entities, context));
  return accepted({
    name,
    strategy: null,
    options: {
      // The longest lock takes no message back earlier than today.
      ...(longestLockMs !== 60_000 ? { lock: asDuration(longestLockMs) } : {}),
      ...(otherWindows.length === 0 && windowMs !== 0 ? { duplicates: asDuration(windowMs) } : {}),
      ...(isShared ? { deadQueue: "shared" } : {}),
    },
    consumers: inferred.map(({ consumer }) => consumer),
    unusedSources: [],
    // A queue and a topic have no common name.
    taken: resources.flatMap(({ kind, names: [own = ""] }) => (kind === "queue" || kind === "topic" ? [own] : [])),
    refused,
    unsaid: [
      ...(only.length > 0 ? [] : leftOut.flatMap(ownerOf)),
      ...(only.length > 0 ? [] : queuesByName(leftOut, entities)),
      ...inferred.flatMap(({ unsaid }) => unsaid),
      ...detectingTopics(
        resources,
        inferred.flatMap(({ consumer }) => consumer.sources.map((source) => source.name)),
      ),
      ...(only.length > 0 || name !== null
        ? []
        : systemsApart(
            inferred.map(({ consumer }) => consumer),
            entities.flatMap(waysFrom),
          )),
      ...(isShared ? [] : work.flatMap((each) => forwarded(each, work))),
      ...severalLocks(work, locks),
    ],
  });
}

/** Azure refuses to change the duplicate detection of a topic. */
function detectingTopics(
  resources: Deployment["namespaces"][number]["resources"],
  sources: readonly string[],
): readonly Unsaid[] {
  const fact =
    "it detects duplicates, which Azure never changes, and a declared topic does not, so Azure would refuse the deployment. With owner: other it stays, and the subscriptions of today have to go when the new ones are there";
  return resources.flatMap(({ kind, names: [name = ""], properties }) =>
    kind === "topic" && properties["requiresDuplicateDetection"] === true && sources.includes(name)
      ? [{ place: name, fact }]
      : [],
  );
}

function queuesByName(leftOut: readonly ReadEntity[], all: readonly ReadEntity[]): readonly Unsaid[] {
  const queues = leftOut.filter(({ kind, forwardTo, isTier }) => kind === "queue" && forwardTo === null && !isTier);
  return leftOutByName(
    queues.map(({ path }) => path),
    new Set(all.map(({ forwardDeadLetteredTo }) => forwardDeadLetteredTo)),
  );
}

function waysFrom({ path, topic, forwardTo, forwardDeadLetteredTo }: ReadEntity) {
  return [topic, forwardTo ?? "", forwardDeadLetteredTo ?? ""].flatMap((next) =>
    next === "" ? [] : [[next, path] as const],
  );
}

function allOf(work: readonly ReadEntity[], setting: "lockDurationMs" | "duplicateDetectionMs"): readonly number[] {
  return [...new Set(work.map((each) => each[setting] ?? 0))];
}

function severalLocks(work: readonly ReadEntity[], locksMs: readonly number[]): readonly Unsaid[] {
  if (locksMs.length < 2) return [];
  const all = locksMs.map(formatDurationMs).join(" and ");
  return [
    {
      place: work.map(({ path }) => path).join(", "),
      fact: `LockDuration is ${all}, and lock of a target is one for all queues`,
    },
  ];
}

function forwarded({ path, forwardDeadLetteredTo: to }: ReadEntity, work: readonly ReadEntity[]): readonly Unsaid[] {
  if (to === null) return [];
  const fact = work.some((each) => each.path === to)
    ? `its dead letters go to ${to}, whose consumer works on them today; a declaration has no such way, so new ones stay in its own dead-letter queue`
    : `its dead letters are forwarded to ${to}; declared they stay in its own dead-letter queue`;
  return [{ place: path, fact }];
}

/** Redeliver's own default names: the queue has the name of the subscription behind that of the system. */
function systemOf(work: readonly ReadEntity[], all: readonly ReadEntity[]): string | null {
  const dead = new Set(work.map((each) => each.forwardDeadLetteredTo ?? ""));
  const [shared = ""] = dead;
  const names = new Set(
    all.flatMap(({ name, forwardTo }) =>
      work.some(({ path }) => path === forwardTo) && forwardTo?.endsWith(`.${name}`) === true
        ? [forwardTo.slice(0, -name.length - 1)]
        : [],
    ),
  );
  if (dead.size === 1 && shared.endsWith(sharedDeadQueueName("")))
    names.add(shared.slice(0, -sharedDeadQueueName("").length));
  // The queue for parked letters of a consumer that receives from its subscription.
  for (const { kind, name } of work)
    for (const { path } of all)
      if (kind === "subscription" && path.endsWith(`.${parkedName(name, ".")}`))
        names.add(path.slice(0, -parkedName(name, ".").length - 1));
  const [name = null, ...others] = names;
  const isOf = ({ kind, path }: ReadEntity): boolean => kind === "subscription" || path.startsWith(`${name}.`);
  return others.length === 0 && work.every(isOf) ? name : null;
}

function keyOf({ kind, name }: ReadEntity, system: string | null): string {
  return kind === "subscription" || system === null ? name : name.slice(system.length + 1);
}

/** The settings that a deployment changes, or that the input does not show. */
function settingsOf(entity: ReadEntity): readonly (string | false)[] {
  const unread = entityFields.queue.flatMap((field) =>
    "own" in field && entity.hidden.has(field.own) ? [field.arm] : [],
  );
  return [
    entity.fixed.status !== "Active" &&
      `its status is ${String(entity.fixed.status)} today, and a deployment makes it Active`,
    unread.length > 0 && `the input does not show the value of ${unread.join(", ")}, so Azure's own is declared`,
    entity.timeToLiveMs !== null &&
      `its DefaultMessageTimeToLive is ${formatDurationMs(entity.timeToLiveMs)}; in a compiled queue no message expires by the queue`,
    entity.deadLetterOnExpiration === false &&
      !entity.hidden.has("deadLetterOnExpiration") &&
      "Service Bus drops expired messages today, and dead-letters them in a compiled queue",
  ];
}

function consumerOf(
  entity: ReadEntity,
  key: string,
  all: readonly ReadEntity[],
  {
    system,
    isWhole,
    detectsAlone,
  }: { readonly system: string | null; readonly isWhole: boolean; readonly detectsAlone: boolean },
): { readonly consumer: FoundConsumer; readonly unsaid: readonly Unsaid[] } {
  const { path, name, maxDeliveryCount, requiresSession } = entity;
  const inSubscription = isSubscription(entity);
  const own = inSubscription ? [entity] : all.filter((each) => isSubscription(each) && each.forwardTo === path);
  // A declared consumer in order receives from its subscription, and not from a queue that this one forwards to.
  const feeders = all.flatMap((each) => (each.kind === "queue" && each.forwardTo === path ? [each.path] : []));
  const isFed = requiresSession === true && !inSubscription;
  const sources = isFed ? { said: [], unsaid: [] } : sourcesInto(own, key, all, isWhole);
  const tiers = all
    .filter((each) => each.isTier && each.forwardDeadLetteredTo === path)
    .toSorted((one, other) => (one.timeToLiveMs ?? 0) - (other.timeToLiveMs ?? 0));
  const isCounted = maxDeliveryCount <= mostAttempts;
  const attempts = isCounted ? maxDeliveryCount : attemptsIfEndless;
  const isWaiting = tiers.length > 0;
  const parked = parkedName(inSubscription && system !== null ? `${system}.${name}` : name, ".");
  const facts: readonly (string | false)[] = [
    isFed &&
      own.length > 0 &&
      `${nameSome(own.map((each) => each.path))} ${own.length === 1 ? "goes on forwarding into it, and is" : "go on forwarding into it, and are"} not declared: keep the code that makes ${own.length === 1 ? "it" : "them"}, and let producers set a session id`,
    feeders.length > 0 && `messages of ${nameSome(feeders)} are forwarded into it, which stays so`,
    !isCounted && `MaxDeliveryCount is ${maxDeliveryCount}, so its consumers end the attempts; ${attempts} are a guess`,
    isWaiting
      ? `its consumers choose the queue for each attempt; that each of ${tiers.map((each) => each.path).join(", ")} is used once is a guess. If consumers receive from one of these, adopt it by --queue`
      : "delayed retries in its consumers' code, such as scheduled copies, show in no queue",
    inSubscription &&
      requiresSession !== true &&
      "its consumers receive from the subscription; a compiled one forwards to a queue, and consumers receive from that",
    ...settingsOf(entity),
  ];
  const from = isWaiting ? tiers.map((each) => each.path).join(", ") : `MaxDeliveryCount of ${path}`;
  return {
    consumer: {
      queue: path,
      ...(inSubscription ? { key, isNewQueue: requiresSession !== true } : {}),
      from: `${inSubscription ? "the subscription" : "the work queue"} ${path}: ${own.length === 0 ? (feeders.length === 0 ? "producers send straight to it" : "another queue forwards to it") : "topics lead into it"}`,
      sources: sources.said,
      isLossy: false,
      delaysMs: {
        value: isWaiting ? tiers.map((each) => each.timeToLiveMs ?? 0) : Array.from({ length: attempts - 1 }, () => 0),
        from: isWaiting
          ? `copies wait in ${from}`
          : `${from} is ${maxDeliveryCount}; an abandoned message returns at once`,
      },
      crashDeliveries: isWaiting ? { value: attempts, from: `MaxDeliveryCount of ${path} is ${attempts}` } : undefined,
      parked: all.some((each) => each.path === parked) ? { value: parked, from: `${parked} is there` } : undefined,
      order: requiresSession === true ? { value: "per-key", from: `${path} requires sessions` } : undefined,
      options: { ...strategyOf(path, tiers), ...(detectsAlone && !inSubscription ? detectionOf(entity) : {}) },
    },
    unsaid: [
      ...sources.unsaid,
      ...facts.filter((fact) => fact !== false).map((fact) => ({ place: path, fact })),
      ...sources.said.map((each) => ({
        place: each.name,
        fact: "nothing shows who makes it, so it is declared as this system's: another owner's would get a second subscription",
      })),
    ],
  };
}

/** The names of hand-made tiers are their own. */
function strategyOf(path: string, tiers: readonly ReadEntity[]): FoundConsumer["options"] {
  return tiers.some((each) => each.path.startsWith(tierName(path, ""))) ? { strategies: "ttl-tier" } : {};
}

function detectionOf({ duplicateDetectionMs: windowMs }: ReadEntity): FoundConsumer["options"] {
  return windowMs === null ? {} : { duplicates: asDuration(windowMs) };
}
