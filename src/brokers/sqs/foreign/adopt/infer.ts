import { leftOutByName } from "../../../../adopt/left-out-by-name.ts";
import type { FoundConsumer, FoundSystem, Unsaid } from "../../../../adopt/found.ts";
import { nothingToAdopt } from "../../../../adopt/nothing-to-adopt.ts";
import { deadElsewhere, ownedElsewhere } from "../../../../adopt/owned-elsewhere.ts";
import { systemsApart } from "../../../../adopt/systems-apart.ts";
import { formatDurationMs } from "../../../../declare/duration.ts";
import { type Checked, accepted } from "../../../../diagnostics/diagnostic.ts";
import { namedDeadQueue, purposeOf } from "../../../../foreign/purpose.ts";
import { parkedName } from "../../../../plan/names.ts";
import { type SqsTarget, sqsDefaults, sqsLimits } from "../../compile/capabilities.ts";
import { retentionOf } from "../../compile/retention.ts";
import { servicesLetIn } from "../audit/policy-access.ts";
import { wayOf } from "../audit/redrive.ts";
import { surroundingsOf, type Surroundings } from "../audit/surroundings.ts";
import { type AuditedQueue, type Deployment, known, nameIn } from "../deployment.ts";
import { ofCloudFormation } from "./cloud-formation.ts";
import { baseOf, deadQueuesApart } from "./dead-queues-apart.ts";
import { lambdaOptions } from "./lambda-options.ts";
import { delayOfEndpoint, hasEndpointsDelay, isEndpointsDelay, scheduleOfEndpoint } from "./nservicebus.ts";
import { sourcesInto } from "./sources-into.ts";
import { cautionsOf, unsaidOf } from "./unsaid.ts";

/** The attempts to declare if the queue itself never ends them. A person has to set the number. */
const attemptsIfEndless = 5;

/**
 * Infers the consumers of one account and region. A work queue has a redrive policy, a subscription, a function or a
 * sender, or is no dead-letter queue and has no name of one.
 *
 * @param only the work queues to adopt; empty for all
 */
export function inferSystem(
  deployment: Deployment,
  _target: SqsTarget,
  only: readonly string[],
  elsewhere: readonly string[] = [],
): Checked<FoundSystem> {
  const [region = { name: "", queues: [] }] = deployment.regions;
  const surroundings = surroundingsOf(deployment, region);
  const names = new Set(region.queues.map(({ name }) => name));
  // Of a FIFO queue a declaration has the name without its end. A standard queue may have exactly that name.
  const isNamed = ({ name }: AuditedQueue): boolean =>
    only.includes(name) || (only.includes(baseOf(name)) && !names.has(baseOf(name)));
  const missing = only.filter((name) => !names.has(name) && !names.has(`${name}${sqsLimits.fifoSuffix}`));
  const isDelay = (each: AuditedQueue): boolean => isEndpointsDelay(each, names);
  const isWork = (each: AuditedQueue): boolean => !isDelay(each) && isWorkQueue(each, surroundings, names);
  const chosen = region.queues.filter(only.length > 0 ? isNamed : isWork);
  const refused = chosen.flatMap((each) => [
    ...ownedElsewhere([each.name], elsewhere),
    ...refusalOf(each, isDelay(each)),
  ]);
  const work = chosen.filter(({ name }) => refused.every(({ place }) => place !== name));
  if (missing.length > 0 || work.length === 0)
    return nothingToAdopt(missing, region.queues.length, "dead-letter queues, and queues with a name of one,", refused);
  const ends = region.queues.filter((each) => !isWork(each)).map(({ name }) => name);
  // A dead-letter queue that others name is theirs, although its name may begin like another one's.
  const unused = region.queues.flatMap((each) =>
    ends.includes(each.name) && surroundings.sourcesOf(each).length === 0 ? [each.name] : [],
  );
  const inferred = work.map((each) => consumerOf(each, deployment, surroundings, { ends, unused, elsewhere }));
  const { shares, consumers, unsaid } = deadQueuesApart(
    inferred.map(({ consumer }) => consumer),
    region.queues,
    work,
  );
  const keys = new Set(work.map(({ keyId }) => known(keyId)));
  const [kmsKey = null] = keys;
  const found: FoundSystem = {
    name: null,
    strategy: null,
    options: {
      ...(keys.size === 1 && kmsKey !== null ? { kmsKey } : {}),
      ...(shares ? { deadQueue: "shared" } : {}),
    },
    consumers,
    queues: region.queues.map(({ name }) => baseOf(name)),
    refused,
    unusedSources: [],
    unsaid: [
      ...unsaid,
      ...inferred.flatMap((each) => each.unsaid),
      ...work
        .filter((each) => hasEndpointsDelay(each, names))
        .map(({ name }) => ({ place: name, fact: scheduleOfEndpoint })),
      ...work.flatMap((each) => sourcesBefore(each, surroundings, work)),
      ...(only.length > 0
        ? []
        : [
            ...region.queues.filter(isDelay).map(({ name }) => ({ place: name, fact: delayOfEndpoint })),
            ...leftOutByName(
              region.queues.filter((each) => !chosen.includes(each)).map(({ name }) => name),
              new Set([
                ...region.queues.filter(surroundings.isDeadLetterQueue).map(({ name }) => name),
                ...inferred.map(({ deadToday }) => deadToday),
              ]),
            ),
            ...systemsApart(consumers),
          ]),
      ...(keys.size > 1 ? [severalKeys(work)] : []),
    ],
  };
  return accepted(found, work.flatMap(cautionsOf));
}

function sourcesBefore(
  queue: AuditedQueue,
  { sourcesOf }: Surroundings,
  work: readonly AuditedQueue[],
): readonly Unsaid[] {
  const others = sourcesOf(queue).filter((source) => !work.includes(source));
  return others.map(({ name }) => {
    return { place: queue.name, fact: `${name} dead-letters to it, and a compiled work queue lets no queue do that` };
  });
}

function severalKeys(work: readonly AuditedQueue[]): Unsaid {
  const place = work.map(({ name }) => name).join(", ");
  return { place, fact: "they have different KMS keys, and a target has one for all queues" };
}

function refusalOf({ name: place, redrive }: AuditedQueue, isDelay: boolean): readonly Unsaid[] {
  if (isDelay) return [{ place, fact: delayOfEndpoint }];
  return redrive === "untold"
    ? [{ place, fact: "it is left out: its RedrivePolicy may not be read, and a deployment replaces it" }]
    : [];
}

function isWorkQueue(queue: AuditedQueue, surroundings: Surroundings, names: ReadonlySet<string>): boolean {
  // In a circle of two queues a work queue is a dead-letter queue, too. Producers show which one it is.
  if (surroundings.subscriptionsOf(queue).length > 0) return true;
  const isCircle = wayOf(queue, surroundings).some((each) => known(each.redrive)?.targetArn === queue.arn);
  const isCalled = surroundings.mappingsOf(queue).length > 0;
  const isRedriven = queue.redrive !== null;
  const base = baseOf(queue.name);
  if (surroundings.isDeadLetterQueue(queue)) {
    const passesOn = isRedriven && !isCircle;
    // A function may handle dead letters, and a rule may send its own there. The name tells them from work.
    if (purposeOf(base) === "failures") return passesOn && isCalled;
    return passesOn || isCalled || servicesLetIn(queue).length > 0;
  }
  if (isRedriven || isCalled) return true;
  const isParked = [...names].some((name) => parkedName(baseOf(name), "-") === base);
  return !isParked && purposeOf(base) === null;
}

/**
 * @param ends the names of the queues that are no work queues
 * @param unused those of them that no queue dead-letters to
 */
function consumerOf(
  queue: AuditedQueue,
  deployment: Deployment,
  surroundings: Surroundings,
  { ends, unused, elsewhere }: Readonly<Record<"ends" | "unused" | "elsewhere", readonly string[]>>,
): { readonly consumer: FoundConsumer; readonly deadToday: string | null; readonly unsaid: readonly Unsaid[] } {
  const { name, fifo } = queue;
  const redrive = known(queue.redrive);
  const attempts = redrive?.maxReceiveCount ?? attemptsIfEndless;
  const lambda = lambdaOptions(surroundings.mappingsOf(queue), fifo);
  const visibilitySeconds = queue.visibilityTimeoutSeconds ?? sqsDefaults.visibilityTimeoutSeconds;
  const timing = timingOf(visibilitySeconds, attempts, lambda.options !== undefined);
  const sources = sourcesInto(queue, deployment);
  const next = redrive === null ? undefined : surroundings.queues.get(redrive.targetArn);
  const nextWork = next === undefined || ends.includes(next.name) ? undefined : next.name;
  const said = redrive === null ? namedDeadQueue(name, unused) : nameIn(redrive.targetArn);
  const deadToday = nextWork === undefined ? said : undefined;
  const isElsewhere = elsewhere.includes(deadToday ?? "");
  const dead = isElsewhere ? undefined : deadToday;
  const kept = retainOf(queue, visibilitySeconds * attempts);
  const parked = `${parkedName(baseOf(name), "-")}${fifo ? sqsLimits.fifoSuffix : ""}`;
  const hiddenText = formatDurationMs(visibilitySeconds * 1_000);
  return {
    consumer: {
      queue: baseOf(name),
      from: `the work queue ${name}: ${sources.said.length === 0 ? "producers send straight to it" : "sources lead into it"}`,
      sources: sources.said,
      isLossy: queue.redrive === null,
      delaysMs: {
        value: Array.from({ length: attempts - 1 }, () => timing.delaySeconds * 1_000),
        from:
          redrive === null
            ? `${name} has no redrive policy; the number of attempts is a guess`
            : `maxReceiveCount of ${name} is ${attempts}; its VisibilityTimeout of ${hiddenText} brings a message back that nobody deletes`,
      },
      handlerTimeoutMs:
        timing.handlerSeconds === null
          ? undefined
          : {
              value: timing.handlerSeconds * 1_000,
              from: `VisibilityTimeout of ${name} is ${hiddenText}; its division between the handler and the delay is a guess`,
            },
      retainMs: kept.retainMs,
      dead: dead === undefined ? undefined : { value: baseOf(dead), from: `messages of ${name} end in ${dead}` },
      parked: parked !== dead && ends.includes(parked) ? { value: parked, from: `${parked} is there` } : undefined,
      order: fifo ? { value: "per-key", from: `${name} is a FIFO queue` } : undefined,
      ...(lambda.options === undefined ? {} : { options: { lambda: lambda.options } }),
    },
    deadToday: deadToday ?? null,
    unsaid: [
      ...[name, deadToday ?? []].flat().flatMap(ofCloudFormation),
      ...sources.unsaid,
      ...(deadToday !== undefined && isElsewhere ? [deadElsewhere(deadToday, name)] : []),
      ...[...lambda.unsaid, ...kept.unsaid].map((fact) => ({ place: name, fact })),
      ...unsaidOf(queue, {
        next,
        isNextWork: nextWork !== undefined,
        guessed: attemptsIfEndless,
        sourceArns: sources.said.map((each) => each.name),
      }),
    ],
  };
}

/**
 * Divides a visibility timeout so that a compiled queue has exactly this one, and a message that nobody deletes comes
 * back as it does today.
 */
function timingOf(
  visibilitySeconds: number,
  attempts: number,
  isFunction: boolean,
): { readonly handlerSeconds: number | null; readonly delaySeconds: number } {
  const { settleSeconds } = sqsDefaults;
  if (isFunction) return { handlerSeconds: null, delaySeconds: 0 };
  if (attempts === 1)
    return {
      handlerSeconds: visibilitySeconds > settleSeconds ? visibilitySeconds - settleSeconds : null,
      delaySeconds: 0,
    };
  const delaySeconds = Math.min(settleSeconds, Math.floor(visibilitySeconds / 2));
  return { handlerSeconds: delaySeconds === 0 ? null : visibilitySeconds - delaySeconds, delaySeconds };
}

const daySeconds = 86_400;

/** A compiled work queue leaves its dead letters a part of the 14 days, because SQS counts the age of a message on. */
function retainOf(
  { name, fifo, retentionSeconds }: AuditedQueue,
  windowSeconds: number,
): { readonly retainMs?: FoundConsumer["retainMs"]; readonly unsaid: readonly string[] } {
  const most = sqsLimits.retentionSeconds;
  if (fifo || retentionSeconds === null) return { unsaid: [] };
  if (retentionOf(fifo, null, windowSeconds).workSeconds === retentionSeconds) return { unsaid: [] };
  const workSeconds = retentionSeconds === most ? most - daySeconds : retentionSeconds;
  if (workSeconds <= windowSeconds) return { unsaid: [] };
  const inWords = formatDurationMs(retentionSeconds * 1_000);
  return {
    retainMs: {
      value: (most - workSeconds) * 1_000,
      from: `MessageRetentionPeriod of ${name} is ${inWords}, and SQS counts the age of a message on in its dead-letter queue`,
    },
    unsaid:
      workSeconds === retentionSeconds
        ? []
        : [
            `MessageRetentionPeriod is ${inWords}, so dead letters may have no time left; a compiled queue has ${formatDurationMs(workSeconds * 1_000)}, and SQS deletes older messages in it`,
          ],
  };
}
