import { z } from "zod";

import { formatDurationMs, parseDurationMs } from "../declare/duration.ts";
import type { Component, RetriedConsumer } from "./component.ts";
import { knownOwners, limitedRetries, testedChanges, watchedQueues } from "./frameworks.ts";
import type { RuleText, Violation } from "./rule.ts";
import { promiseNames } from "../contract/promise.ts";
import { durationBudget, numberBudget } from "./settings.ts";

/** A rule on a declaration, which is known before Pulumi creates anything, and so in a preview too. */
export interface DeclarationRule<Config extends z.ZodObject = z.ZodObject> extends RuleText {
  readonly kind: "declaration";
  /** The rule's own settings, each with a default. */
  readonly config: Config;
  /** As a method, so that rules with different settings can stand in one list. */
  judge(component: Component, config: z.output<Config>): readonly Violation[];
}

/** Keeps the type of a rule's settings while the rule is written. */
function declarationRule<Config extends z.ZodObject>(
  rule: Omit<DeclarationRule<Config>, "kind">,
): DeclarationRule<Config> {
  return Object.freeze({ kind: "declaration", ...rule });
}

/** A rule on each consumer with retries by itself. */
function consumerRule<Config extends z.ZodObject>({
  objection,
  ...rule
}: Omit<DeclarationRule<Config>, "kind" | "judge"> & {
  objection: (consumer: RetriedConsumer, config: z.output<Config>) => Omit<Violation, "part"> | null;
}): DeclarationRule<Config> {
  const judge = ({ retried }: Component, config: z.output<Config>) =>
    retried.flatMap((each) => {
      const found = objection(each, config);
      return found === null ? [] : { part: each.consumer, ...found };
    });
  return declarationRule({ ...rule, judge });
}

/** The rules on declarations, in the order of pages and reports. */
export const declarationRules = Object.freeze({
  /**
   * Names the components that could not be judged, so that no other rule is silent about them without a reason.
   * It has nothing to find in a component that was read.
   */
  declarationReadable: declarationRule({
    name: "declaration-readable",
    description: "Redeliver can read the declaration of every component.",
    severity: "medium",
    isOnlyAdvice: true,
    tags: ["policy pack"],
    framework: testedChanges,
    why: "A component of another version of Redeliver may have inputs in another form. If every rule skipped it silently, the run would look like success.",
    remediationSteps: "Use the same version of Redeliver in the program and in the policy pack.",
    config: z.object({}),
    judge: () => [],
  }),
  retryAttemptsLimit: consumerRule({
    name: "retry-attempts-limit",
    description: "A message is attempted no more often than the organisation allows.",
    severity: "medium",
    tags: ["retries", "budget"],
    framework: limitedRetries,
    why: "A dependency that is down gets every message once for each attempt. Fifty attempts instead of five are ten times the load when it comes back, and it goes down again.",
    remediationSteps:
      "Lower retry.attempts. To survive a long outage, raise the delays instead: five attempts cover an hour with exponential backoff.",
    config: z.object({ max: numberBudget(1, 10, "The most attempts of a message, the first one included.") }),
    objection({ consumer, retry: { attempts } }, { max }) {
      if (attempts.length <= max) return null;
      const help = `lower consumers.${consumer}.retry.attempts to ${max}, and raise the delays to survive an outage`;
      return { message: `a message is attempted ${attempts.length} times; the limit is ${max}`, help };
    },
  }),
  firstRetryDelay: consumerRule({
    name: "first-retry-delay",
    description: "The first retry waits long enough for the failed dependency to recover.",
    severity: "medium",
    tags: ["retries", "budget"],
    framework: limitedRetries,
    why: "Retries without a delay end before anything can change: five attempts fail for the same reason within milliseconds. A database restart of two seconds then fills the dead queue.",
    remediationSteps: "Raise the first delay of retry.backoff. A failure that ends at once then costs that much time.",
    config: z.object({ min: durationBudget("1s", "The shortest delay before the second attempt.") }),
    objection({ consumer, retry }, { min }) {
      const second = retry.attempts[1];
      if (second === undefined || second.delayMs >= parseDurationMs(min)) return null;
      const when = second.delayMs === 0 ? "at once" : `after ${formatDurationMs(second.delayMs)}`;
      const message = `the second attempt comes ${when}; it has to wait for ${min} at least`;
      return { message, help: `begin consumers.${consumer}.retry.backoff with ${min}` };
    },
  }),
  retryJitter: consumerRule({
    name: "retry-jitter",
    description: "A consumer of many routing keys spreads its retries.",
    severity: "low",
    tags: ["retries", "load"],
    framework: limitedRetries,
    why: "Messages that fail together come back together. After an outage of a minute, every delay of the schedule brings all failed messages back in one wave.",
    remediationSteps:
      'Add jitter: "20%" to retry.backoff. On RabbitMQ no queue spreads delays: the strategy becomes deferred or waits, where the consumer sets the delay.',
    config: z.object({
      mostKeys: numberBudget(0, 5, "The most routing keys of a consumer without jitter; a pattern counts as one."),
    }),
    objection({ consumer, from, retry }, { mostKeys }) {
      const keys = Object.values(from).reduce((sum, each) => sum + (each === "all" ? 1 : each.length), 0);
      const isAlike = retry.jitterPercent === 0 && retry.attempts.some(({ delayMs }) => delayMs > 0);
      if (!isAlike || keys <= mostKeys) return null;
      return {
        message: `${keys} routing keys lead to it, and its retries have no jitter; the limit without jitter is ${mostKeys}`,
        help: `add jitter: "20%" to consumers.${consumer}.retry.backoff`,
      };
    },
  }),
  deadLetterTimeLimit: consumerRule({
    name: "dead-letter-time-limit",
    description: "A message that cannot be handled reaches the dead queue in time.",
    severity: "medium",
    tags: ["dead letters", "budget"],
    framework: watchedQueues,
    why: "No alarm reports a message while it is retried. If an order is retried for three days, you notice it on the fourth, when the customer calls.",
    remediationSteps:
      "Lower retry.attempts or the longest delay, or set retry.giveUpAfter. After a longer outage, replay the messages from the dead queue.",
    config: z.object({
      max: durationBudget("1d", "The longest time from the first delivery to the dead queue, in the worst case."),
    }),
    objection({ consumer, retry: { worstCaseToDeadLetterMs: latestMs } }, { max }) {
      if (latestMs <= parseDurationMs(max)) return null;
      return {
        message: `a message reaches the dead queue after ${formatDurationMs(latestMs)} at the latest; the limit is ${max}`,
        help: `set consumers.${consumer}.retry.giveUpAfter, or lower the attempts or the longest delay`,
      };
    },
  }),
  deadLetterRetention: consumerRule({
    name: "dead-letter-retention",
    description: "The declaration keeps dead letters long enough for a person to handle them.",
    severity: "high",
    tags: ["dead letters", "data loss"],
    framework: watchedQueues,
    why: "A dead queue that keeps messages for four days silently loses those of Thursday night before Tuesday morning, after a long weekend.",
    remediationSteps:
      "Set deadLetter.retain. If the broker cannot keep them so long, Redeliver refuses the declaration. Then archive dead letters elsewhere.",
    config: z.object({ min: durationBudget("7d", "The shortest time to keep dead letters.") }),
    objection({ consumer, retry: { retainMs } }, { min }) {
      if (retainMs !== null && retainMs >= parseDurationMs(min)) return null;
      const declared = retainMs === null ? "nothing is declared" : `declared is ${formatDurationMs(retainMs)}`;
      const message = `dead letters have to be kept for ${min} at least; ${declared}`;
      return { message, help: `set consumers.${consumer}.deadLetter.retain to "${min}" or more` };
    },
  }),
  deadLetterAlarm: consumerRule({
    name: "dead-letter-alarm",
    description: "An alarm reports waiting dead letters.",
    severity: "high",
    tags: ["dead letters", "alarms"],
    framework: watchedQueues,
    why: "An unwatched dead queue deletes messages slowly: unpaid invoices stay in it until their retention ends.",
    remediationSteps:
      "Set deadLetter.alarmAbove. On Amazon SQS Redeliver makes the alarm with the queue. On RabbitMQ your monitoring has to raise it.",
    config: z.object({ max: numberBudget(0, 100, "The highest number of waiting dead letters without an alarm.") }),
    objection({ consumer, retry: { alarmAbove } }, { max }) {
      if (alarmAbove !== null && alarmAbove <= max) return null;
      const message =
        alarmAbove === null
          ? "no alarm is declared for its dead letters"
          : `the alarm for its dead letters goes off above ${alarmAbove}; the limit is ${max}`;
      return { message, help: `set consumers.${consumer}.deadLetter.alarmAbove to ${max} or less` };
    },
  }),
  permanentErrorsListed: consumerRule({
    name: "permanent-errors-listed",
    description: "The declaration lists errors that no retry can cure.",
    severity: "low",
    tags: ["retries", "errors"],
    framework: limitedRetries,
    why: "A message that fails validation fails it on all five attempts. It delays the queue, hides among the transient failures, and dies only after the whole schedule.",
    remediationSteps:
      "List the names of such errors in errors.permanent, such as ValidationError. They go to the dead queue after one attempt.",
    config: z.object({}),
    objection({ consumer, retry: { attempts, permanentErrors } }) {
      if (attempts.length <= 1 || permanentErrors.length > 0) return null;
      return {
        message: `no error is permanent, so a message that can never be handled is attempted ${attempts.length} times`,
        help: `list the names of permanent errors in consumers.${consumer}.errors.permanent`,
      };
    },
  }),
  promisesKeptByBroker: declarationRule({
    name: "promises-kept-by-broker",
    description: "The broker, not the consumer's code, keeps the promises that you list.",
    severity: "high",
    tags: ["data loss", "promises"],
    framework: limitedRetries,
    why: "The first deployment that forgets a consumer's promise breaks it. If the code no longer raises the attempt number, a poisoned message goes round for ever.",
    remediationSteps:
      "Choose a schedule or a target with which the broker keeps the promise: redeliver check names the keeper of each. Without jitter RabbitMQ counts and delays by itself.",
    config: z.object({
      promises: z
        .array(z.enum(promiseNames).exclude(["handler-timeout"]))
        .default(["no-loss", "no-loop"])
        .meta({ description: "The promises whose keeper has to be the broker." }),
    }),
    judge({ promises, retried }, { promises: wanted }) {
      const consumers = new Set(retried.map(({ consumer }) => consumer));
      const isWanted = (name: string): boolean => wanted.some((each) => each === name);
      return promises
        .filter(({ consumer, promise, keeper }) => consumers.has(consumer) && isWanted(promise) && keeper !== "broker")
        .map(({ consumer, promise, keeper, statement }) => ({
          part: consumer,
          message: `the promise ${promise} is kept by ${keeper === "consumer" ? "the consumer's code" : "nobody"}: ${statement}`,
          help: "choose a strategy with which the broker keeps it, or waive the rule for this consumer",
        }));
    },
  }),
  topologyOwner: declarationRule({
    name: "topology-owner",
    description: "Every consumer has an owner for its dead letters.",
    severity: "medium",
    tags: ["dead letters", "ownership"],
    framework: knownOwners,
    why: "The alarm goes off at three in the morning, and the queue is called svc-evt-2.dead. Finding its owner takes an hour.",
    remediationSteps:
      'Pass owner: "team-billing" to the component, or set the tag of the stack: pulumi stack tag set owner team-billing.',
    config: z.object({
      stackTag: z
        .string()
        .min(1)
        .default("owner")
        .meta({ description: "The tag of the stack that also names the owner." }),
    }),
    judge({ owner, stackTags }, { stackTag }) {
      const tag = stackTags.get(stackTag)?.trim() ?? "";
      if (owner !== null || tag !== "") return [];
      return [
        {
          part: null,
          message: `neither the component has an owner nor the stack a tag ${stackTag}`,
          help: 'pass owner to the component, such as owner: "team-billing"',
        },
      ];
    },
  }),
});
