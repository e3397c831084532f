import { formatDurationMs } from "../../../declare/duration.ts";
import { pathOfOwn, pathOfQueue, pathOfSource, pathOfSystem, queueNames, sourceName } from "../../../plan/names.ts";
import { type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import {
  longName,
  nameClashes,
  oncePerTemplate,
  refuseEveryInstance,
  refuseHandlerTimeout,
  refuseOtherKinds,
  refuseQueueArguments,
  warnOfNoTimeout,
  warnOfReturns,
  refuseTemplate,
} from "../../../contract/shared-problems.ts";
import { refuseSourceArguments } from "../../../contract/source-arguments.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import { type StrategyName, sqsDefaults, sqsLimits } from "./capabilities.ts";
import { policyOf } from "./filter.ts";
import { foreignSourceProblems } from "./foreign-sources.ts";
import { consumerNames, topicName } from "./names.ts";
import type { Retention } from "./retention.ts";
import { type StrategyInput, handlingSeconds, inWords, wholeSeconds } from "./strategies/strategy.ts";
import type { SqsTopology } from "./topology.ts";

/** Finds names that no queue or topic may have. */
export function diagnoseNames(plan: Plan, region: string): Diagnostic[] {
  const { system } = plan;
  return oncePerTemplate([
    ...characterProblem(pathOfSystem(plan), system),
    ...refuseOtherKinds(withoutStated(plan.sources), "Amazon SQS", ["opaque"]),
    ...refuseSourceArguments(plan.sources, "Amazon SQS"),
    ...refuseTemplate(plan, "shared", "consumers on Amazon SQS share no queues or topics but sources"),
    ...Object.keys(plan.sources).flatMap((name) => {
      if (plan.sources[name]?.owner === "other") return foreignSourceProblems(plan, name, region);
      const path = pathOfSource(plan, name);
      const longest = topicName(plan, name, true);
      return [
        ...characterProblem(path, path.length > 2 || path[0] === "names" ? sourceName(plan, name, "-") : name),
        ...longName({ path, name, what: "a topic name", longest, most: sqsLimits.topicNameLength }),
      ];
    }),
    ...plan.consumers.flatMap((consumer) => {
      const path = pathOfQueue(plan, consumer);
      const { work, dead } = queueNames(plan, consumer, "-");
      const name = path.length === 2 && path[0] === "consumers" ? consumer.consumer : work;
      const { undelivered: longest, dead: whole } = consumerNames(plan, consumer);
      const most = sqsLimits.nameLength;
      const ownDead = pathOfOwn(plan, consumer.consumer, "dead");
      return [
        ...characterProblem(path, name),
        ...longName({ path, name, what: "a queue name", longest, most }),
        ...(ownDead.join() === path.join()
          ? []
          : [
              ...characterProblem(ownDead, dead),
              ...longName({ path: ownDead, name: dead, what: "a queue name", longest: whole, most }),
            ]),
      ];
    }),
  ]);
}

/** An opaque source without a type of an exchange is a topic, whose subscriptions have filters of SNS. */
function withoutStated(sources: Plan["sources"]): Plan["sources"] {
  const others = Object.entries(sources).filter(
    ([, each]) => each.kind !== "opaque" || each.exchangeType !== undefined,
  );
  return Object.fromEntries(others);
}

function characterProblem(path: readonly string[], name: string): Diagnostic[] {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return [];
  const odd = [...new Set(name.replaceAll(/[A-Za-z0-9_-]/g, ""))].join("");
  return diagnosed("RD204", {
    path,
    message: `the name has ${JSON.stringify(odd)} in it; SQS and SNS take letters, digits, hyphens and underscores`,
    value: name,
    notes: name.endsWith(sqsLimits.fifoSuffix)
      ? ['Redeliver adds .fifo to the names of FIFO queues and topics, with order: "per-key"']
      : [],
    help: `write for example ${JSON.stringify(
      withoutAddress(name)
        .replace(/\.fifo$/, "")
        .replaceAll(/[^A-Za-z0-9_-]+/g, "-"),
    )}`,
  });
}

/** The name at the end of a queue's URL or of an ARN. */
function withoutAddress(name: string): string {
  return name.replace(/^(?:https?:\/\/.*\/([^/?]+)\/?(?:\?.*)?|arn:.*:([^:]+))$/, "$1$2");
}

/** Finds a consumer's problems on SQS and SNS that no strategy could solve. */
export function diagnoseConsumer(plan: ConsumerPlan, sources: Plan["sources"]): Diagnostic[] {
  if (plan.retry === null) return [refuseEveryInstance(plan, "a queue of SQS", "RabbitMQ")];
  return [
    ...handlerTimeoutProblem(plan),
    ...filterProblems(plan, sources),
    ...refuseQueueArguments(plan, "Amazon SQS"),
  ];
}

function handlerTimeoutProblem(plan: ConsumerPlan): Diagnostic[] {
  const { settleSeconds } = sqsDefaults;
  const limit = `SQS hides a message for 12h at most, and ${settleSeconds}s of them are left to report the outcome`;
  return refuseHandlerTimeout(plan, (sqsLimits.visibilityTimeoutSeconds - settleSeconds) * 1_000, limit);
}

function filterProblems(plan: ConsumerPlan, sources: Plan["sources"]): Diagnostic[] {
  return Object.entries(plan.from).flatMap(([source, keys]) => {
    const filter = policyOf(plan, source, sources[source]?.kind ?? "topic");
    const path = ["consumers", plan.consumer, "from", source];
    if ("problems" in filter)
      return filter.problems.map(({ index, message, help }) => {
        const ofKey = index === undefined ? { path } : { path: [...path, index], value: keys[index] };
        return diagnostic("RD216", { ...ofKey, message, help });
      });
    const lists = Object.values(filter.policy ?? {});
    const values = lists.reduce((all, { length }) => all * length, 1);
    if (lists.length > sqsLimits.filterAttributes)
      return diagnosed("RD216", {
        path,
        message: `the filter would have ${lists.length} attributes; SNS takes ${sqsLimits.filterAttributes}`,
        help: "match fewer headers, and let the handler skip the rest",
      });
    if (values <= sqsLimits.filterValues) return [];
    return diagnosed("RD216", {
      path,
      message: `the filter would have ${values} values; SNS takes ${sqsLimits.filterValues}`,
      notes: ["a routing key is one value, a pattern two; of several headers all combinations count"],
      help: "take a wider pattern, or divide the source",
    });
  });
}

/** Finds two resources of one kind with one name. Each consumer's derived names must be its own. */
export function diagnoseClashes(plan: Plan, { queues, topics }: SqsTopology): Diagnostic[] {
  const named = queues.map(({ name, role, consumer }) => ({
    name,
    pathOf: () => (consumer === null ? null : pathOfOwn(plan, consumer, role)),
    what: consumer === null ? `the shared ${role} queue` : `the ${role} queue of ${consumer}`,
  }));
  const ofTopics = topics.map(({ name, source }) => ({
    name,
    pathOf: () => pathOfSource(plan, source),
    what: `the topic of ${source}`,
  }));
  return [named, ofTopics].flatMap((each) => nameClashes(plan, each));
}

/**
 * Checks this order: worst-case retry window < retention of the work queue ≤ retention of the dead queue, and also the
 * declared retention.
 */
export function diagnoseRetention(input: StrategyInput, retention: Retention): Diagnostic[] {
  const { plan, retry, fifo } = input;
  const path = ["consumers", plan.consumer];
  const { retainMs } = retry;
  const { windowSeconds } = retention;
  const most = formatDurationMs(sqsLimits.retentionSeconds * 1_000);
  const window = formatDurationMs(windowSeconds * 1_000);
  if (windowSeconds >= sqsLimits.retentionSeconds)
    return diagnosed("RD609", {
      path: [...path, "retry"],
      message: `the retries of one message can take ${window}; SQS keeps a message for ${most} at most`,
      notes: ["SQS deletes an older message wherever it is, and does not move it to the dead queue"],
      help: "use fewer attempts or shorter delays",
    });
  // On a standard queue the work queue gets the rest of the 14 days. That must be more than the retries take.
  const leastSeconds = fifo ? 0 : Math.max(windowSeconds + 1, sqsLimits.leastRetentionSeconds);
  const isKept = retainMs === null || wholeSeconds(retainMs) + leastSeconds <= sqsLimits.retentionSeconds;
  if (!isKept) {
    const clock = "on a standard queue the clock runs from the publishing on, also in the dead queue";
    return diagnosed("RD610", {
      path: [...path, "deadLetter", "retain"],
      message: fifo
        ? `dead letters cannot be kept for ${formatDurationMs(retainMs)}; SQS keeps a message for ${most} at most`
        : `dead letters cannot be kept for ${formatDurationMs(retainMs)}: SQS keeps a message for ${most}, and its retries may take ${window}`,
      notes: fifo ? [] : [clock],
      help: fifo
        ? `choose at most ${most}; archive messages that have to stay longer`
        : "choose at most 10d, which leaves 4d for the work queue; archive messages that have to stay longer",
    });
  }
  return tightRetention(input, retention);
}

function tightRetention({ plan, retry }: StrategyInput, { workSeconds, leftSeconds }: Retention): Diagnostic[] {
  const path = ["consumers", plan.consumer];
  if (retry.retainMs !== null && workSeconds < sqsDefaults.retentionSeconds)
    return diagnosed("RD615", {
      path: [...path, "deadLetter", "retain"],
      message: `a message that no consumer receives within ${inWords(workSeconds)} is deleted from the work queue`,
      notes: [`SQS keeps a message for 14d in all; ${formatDurationMs(retry.retainMs)} of it are for the dead queue`],
      help: "choose a shorter retain, or make sure that no consumer is away for that long",
    });
  if (retry.retainMs === null && leftSeconds < sqsDefaults.retentionSeconds)
    return diagnosed("RD615", {
      path: [...path, "retry"],
      message: `a dead letter may be deleted ${inWords(leftSeconds)} after it came to the dead queue`,
      notes: [`SQS keeps a message for 14d in all; ${inWords(workSeconds)} of it may pass before it dies`],
      help: "use fewer attempts or shorter delays, or handle dead letters soon",
    });
  return [];
}

/** Warns of promises that hold on SQS only with a consequence. */
export function consumerWarnings(input: StrategyInput, strategy: StrategyName): Diagnostic[] {
  const { plan, retry } = input;
  const path = ["consumers", plan.consumer];
  const attempts = retry.attempts.length;
  const declared = retry.giveUpAfter?.declaredAttempts ?? attempts;
  const found: Diagnostic[] = [];
  if (attempts === 1) {
    found.push(
      diagnostic("RD611", {
        path: [...path, "retry", "attempts"],
        message: "a message dies after a single receive, even if no handler saw it",
        value: declared,
        notes: ["a receive counts when SQS sends the answer, and an answer can be lost on its way"],
        help: "use at least 2 attempts, with a handler that can be repeated",
      }),
    );
  } else {
    found.push(
      warnOfReturns({
        path: [...path, "retry", "attempts"],
        value: declared,
        deliveries: attempts,
        of: "failure",
        notes: ["SQS has one counter, and every receive counts, with any outcome"],
        edit: "raise attempts",
      }),
    );
  }
  if (plan.handlerTimeoutMs === null && input.lambda === null) {
    const note = "SQS needs the time to hide a message at the receive; its default is 30s";
    found.push(warnOfNoTimeout(plan, handlingSeconds(input) * 1_000, note));
  }
  const flat = retry.attempts.find(
    ({ delayMs, delayLatestMs }) => delayMs !== delayLatestMs && Math.floor(delayLatestMs / 1_000) * 1_000 === delayMs,
  );
  if (strategy === "visibility" && flat !== undefined) {
    found.push(
      diagnostic("RD614", {
        path: [...path, "retry", "backoff", "jitter"],
        message: `of ${retry.jitterPercent}% jitter nothing is left on a delay of ${formatDurationMs(flat.delayMs)}`,
        value: `${retry.jitterPercent}%`,
        notes: ["SQS counts whole seconds, so a delay spreads over the whole seconds within its jitter"],
        help: "raise the jitter or the delay; otherwise messages that fail together come back together",
      }),
    );
  }
  return found;
}
