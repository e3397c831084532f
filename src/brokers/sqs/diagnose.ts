import { formatDurationMs } from "../../declare/duration.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan } from "../../plan/plan.ts";
import type { Objection } from "../broker.ts";
import type { SqsTarget, StrategyName } from "./capabilities.ts";
import { formatTarget, sqsDefaults, sqsLimits } from "./capabilities.ts";
import { filterOf } from "./filter.ts";
import { consumerNames, topicName } from "./names.ts";
import type { Retention } from "./retention.ts";
import type { StrategyInput } from "./strategies/strategy.ts";
import { handlingSeconds, wholeSeconds } from "./strategies/strategy.ts";
import type { SqsTopology } from "./topology.ts";

/** The names that no queue and no topic may have. */
export function diagnoseNames(plan: Plan): Diagnostic[] {
  const { system } = plan;
  return [
    ...characterProblem(["name"], system),
    ...Object.keys(plan.sources).flatMap((source) => [
      ...characterProblem(["sources", source], source),
      ...lengthProblem(["sources", source], topicName(system, source, true), "topic", sqsLimits.topicNameLength),
    ]),
    ...plan.consumers.flatMap(({ consumer, order }) => {
      const { undelivered } = consumerNames(system, consumer, order === "per-key");
      return [
        ...characterProblem(["consumers", consumer], consumer),
        ...lengthProblem(["consumers", consumer], undelivered, "queue", sqsLimits.nameLength),
      ];
    }),
  ];
}

function characterProblem(path: readonly string[], name: string): Diagnostic[] {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return [];
  const odd = [...new Set(name.replaceAll(/[A-Za-z0-9_-]/g, ""))].join("");
  return [
    diagnostic("RD604", {
      path,
      message: `the name has ${JSON.stringify(odd)} in it; SQS and SNS take letters, digits, hyphens and underscores`,
      value: name,
      notes: name.endsWith(sqsLimits.fifoSuffix)
        ? ['the names of FIFO queues and topics get their .fifo by themselves, where order: "per-key" is declared']
        : [],
      help: `write for example ${JSON.stringify(name.replace(/\.fifo$/, "").replaceAll(/[^A-Za-z0-9_-]+/g, "-"))}`,
    }),
  ];
}

function lengthProblem(path: readonly string[], longest: string, kind: string, most: number): Diagnostic[] {
  if (longest.length <= most) return [];
  return [
    diagnostic("RD604", {
      path,
      message: `a ${kind} name derived from this would have ${longest.length} characters; ${most} are allowed`,
      value: path.at(-1),
      notes: [`the longest is ${longest}`],
      help: "shorten it, or the system's name",
    }),
  ];
}

/** What SQS and SNS cannot do for a consumer, whatever the strategy. */
export function diagnoseConsumer(plan: ConsumerPlan, sources: Plan["sources"]): Diagnostic[] {
  const path = ["consumers", plan.consumer];
  if (plan.retry === null) {
    return [
      diagnostic("RD606", {
        path: [...path, "delivery"],
        message: "a queue of SQS does not end with the instance that reads it",
        value: "every-instance",
        notes: [
          "each instance would have to make its own queue and subscription, and nobody would delete them when it dies: they would fill up for as long as their topic lives",
        ],
        help: 'use delivery: "work-queue", or a target whose queues end with their connection: RabbitMQ',
      }),
    ];
  }
  return [...handlerTimeoutProblem(plan), ...filterProblems(plan, sources)];
}

function handlerTimeoutProblem({ consumer, handlerTimeoutMs }: ConsumerPlan): Diagnostic[] {
  if (handlerTimeoutMs === null) return [];
  const most = sqsLimits.visibilityTimeoutSeconds - sqsDefaults.settleSeconds;
  if (wholeSeconds(handlerTimeoutMs) <= most) return [];
  return [
    diagnostic("RD613", {
      path: ["consumers", consumer, "handlerTimeout"],
      message: `the handler may run for ${formatDurationMs(handlerTimeoutMs)}; SQS hides a message for 12h at most`,
      notes: [
        `${sqsDefaults.settleSeconds}s of the 12h are left to say what came of it, so ${formatDurationMs(most * 1_000)} is the most`,
      ],
      help: "shorten the handler, or let it start the long work elsewhere",
    }),
  ];
}

function filterProblems({ consumer, from }: ConsumerPlan, sources: Plan["sources"]): Diagnostic[] {
  return Object.entries(from).flatMap(([source, keys]) => {
    const filter = filterOf(keys, sources[source]?.kind ?? "topic");
    const path = ["consumers", consumer, "from", source];
    if ("problems" in filter) {
      return filter.problems.map(({ index, message, help }) =>
        diagnostic("RD608", { path: [...path, index], message, value: keys[index], help }),
      );
    }
    const values = filter.values?.length ?? 0;
    if (values <= sqsLimits.filterValues) return [];
    return [
      diagnostic("RD608", {
        path,
        message: `the filter would have ${values} values; SNS takes ${sqsLimits.filterValues}`,
        notes: ["a routing key is one value, a pattern two"],
        help: "take a wider pattern, or divide the source",
      }),
    ];
  });
}

/** Two resources of one kind with one name: each consumer's derived names must be its own. */
export function diagnoseClashes({ queues }: SqsTopology): Diagnostic[] {
  const owners = new Map<string, string>();
  return queues.flatMap(({ name, role, consumer }) => {
    const owner = `consumer ${JSON.stringify(consumer)}, ${role}`;
    const other = owners.get(name);
    owners.set(name, owner);
    if (other === undefined) return [];
    return [
      diagnostic("RD605", {
        path: ["consumers", consumer ?? ""],
        message: `${JSON.stringify(name)} would be two queues: ${other} and ${owner}`,
        notes: ["one consumer's messages would land with the other"],
        help: "rename one of the two",
      }),
    ];
  });
}

/** Worst-case retry window < retention of the work queue ≤ retention of the dead queue, and what is declared of it. */
export function diagnoseRetention(input: StrategyInput, retention: Retention): Diagnostic[] {
  const { plan, retry, fifo } = input;
  const path = ["consumers", plan.consumer];
  const { retainMs } = retry;
  const { windowSeconds } = retention;
  const most = formatDurationMs(sqsLimits.retentionSeconds * 1_000);
  const window = formatDurationMs(windowSeconds * 1_000);
  if (windowSeconds >= sqsLimits.retentionSeconds) {
    return [
      diagnostic("RD609", {
        path: [...path, "retry"],
        message: `the retries of one message can take ${window}; SQS keeps a message for ${most} at most`,
        notes: ["a message that is older is deleted wherever it is, and does not go to the dead queue"],
        help: "use fewer attempts or shorter delays",
      }),
    ];
  }
  // On a standard queue the work queue gets what is left, which has to be more than the retries take.
  const leastSeconds = fifo ? 0 : Math.max(windowSeconds + 1, sqsLimits.leastRetentionSeconds);
  const isKept = retainMs === null || wholeSeconds(retainMs) + leastSeconds <= sqsLimits.retentionSeconds;
  if (!isKept) {
    const clock = "on a standard queue the clock runs from the publishing on, also in the dead queue";
    return [
      diagnostic("RD610", {
        path: [...path, "deadLetter", "retain"],
        message: fifo
          ? `dead letters cannot be kept for ${formatDurationMs(retainMs)}; SQS keeps a message for ${most} at most`
          : `dead letters cannot be kept for ${formatDurationMs(retainMs)}: SQS keeps a message for ${most}, of which its retries may take ${window}`,
        notes: fifo ? [] : [clock],
        help: fifo
          ? `choose at most ${most}; archive what has to stay longer`
          : "choose at most 10d, which leaves 4d for the work queue; archive what has to stay longer",
      }),
    ];
  }
  return tightRetention(input, retention);
}

function tightRetention({ plan, retry }: StrategyInput, { workSeconds, leftSeconds }: Retention): Diagnostic[] {
  const path = ["consumers", plan.consumer];
  const inWords = (seconds: number): string => formatDurationMs(seconds * 1_000);
  if (retry.retainMs !== null && workSeconds < sqsDefaults.retentionSeconds) {
    return [
      diagnostic("RD615", {
        path: [...path, "deadLetter", "retain"],
        message: `what nobody receives within ${inWords(workSeconds)} is deleted from the work queue`,
        notes: [`SQS keeps a message for 14d in all; ${formatDurationMs(retry.retainMs)} of it are for the dead queue`],
        help: "choose a shorter retain, or be sure that a consumer is never away for that long",
      }),
    ];
  }
  if (retry.retainMs === null && leftSeconds < sqsDefaults.retentionSeconds) {
    return [
      diagnostic("RD615", {
        path: [...path, "retry"],
        message: `a dead letter may be deleted ${inWords(leftSeconds)} after it came to the dead queue`,
        notes: [`SQS keeps a message for 14d in all; ${inWords(workSeconds)} of it may pass before it is dead`],
        help: "use fewer attempts or shorter delays, or look at dead letters soon",
      }),
    ];
  }
  return [];
}

/** The refusal where no strategy, or not the one asked for, keeps every promise. */
export function refuseStrategy(
  target: SqsTarget,
  plan: ConsumerPlan,
  objections: ReadonlyMap<StrategyName, readonly Objection[]>,
): Diagnostic {
  if (target.strategy === "auto") return refuseAuto(target, plan, objections);
  const keeps = [...objections].filter(([, each]) => each.length === 0).map(([name]) => name);
  const [first, ...others] = objections.get(target.strategy) ?? [];
  return diagnostic("RD602", {
    path: ["consumers", plan.consumer, ...(first?.path ?? [])],
    message: `${target.strategy} on ${formatTarget(target)} cannot keep this: ${first?.reason ?? ""}`,
    notes: others.map(({ reason }) => `also: ${reason}`),
    help:
      keeps.length > 0
        ? `use strategy ${keeps.join(" or ")}, which keeps it`
        : "no strategy of SQS keeps it; change the declaration",
  });
}

function refuseAuto(
  target: SqsTarget,
  plan: ConsumerPlan,
  objections: ReadonlyMap<StrategyName, readonly Objection[]>,
): Diagnostic {
  const notes = [...objections].map(([name, each]) => `${name}: ${each.map(({ reason }) => reason).join("; ")}`);
  const [closest, [first] = []] = [...objections].toSorted(([, a], [, b]) => a.length - b.length)[0] ?? [];
  const path = first?.path ?? [];
  const place = path.length === 0 ? "the consumer" : path.join(".");
  return diagnostic("RD603", {
    path: ["consumers", plan.consumer, ...path],
    message: `${formatTarget(target)} has no strategy for what ${plan.consumer} declares`,
    notes,
    help: `change ${place}: strategy ${closest} comes closest`,
  });
}

/** What holds on SQS only with a consequence that the user ought to know. */
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
        message: "a message is dead after a single receive, even if no handler ever saw it",
        value: declared,
        notes: ["a receive counts when SQS sends the answer, and an answer can be lost on its way"],
        help: "use at least 2 attempts, with a handler that can be repeated",
      }),
    );
  } else {
    found.push(
      diagnostic("RD607", {
        path: [...path, "retry", "attempts"],
        message: `a message that is handed back ${attempts} times is dead, like after ${attempts} failures`,
        value: declared,
        notes: ["SQS has one counter, and every receive counts, whatever becomes of it"],
        help: "receive no more messages than are handled at once, so that a shutdown returns few, or raise attempts",
      }),
    );
  }
  if (plan.handlerTimeoutMs === null && input.lambda === null) {
    found.push(
      diagnostic("RD612", {
        path,
        message: `no handlerTimeout is declared, so a message comes back ${handlingSeconds(input)}s after its receive, even while its handler runs`,
        notes: ["SQS hides a message for a time that has to be known when it is received; 30s is its own default"],
        help: 'declare how long the handler may run, for example handlerTimeout: "30s"',
      }),
    );
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
        help: "raise the jitter or the delay; failures that happen together otherwise come back together",
      }),
    );
  }
  return found;
}
