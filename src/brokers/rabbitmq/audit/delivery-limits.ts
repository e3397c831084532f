import type {
  Arguments,
  BrokerPolicy,
  BrokerTopology,
  EffectiveSettings,
  HeaderValue,
  SemanticsVersion,
  VersionRules,
} from "../semantics.ts";
import { versionRules } from "../semantics.ts";
import type { Finding } from "../../finding.ts";
import { nameText } from "../../finding.ts";
import type { QueueShape } from "./surroundings.ts";

interface LimitedQueue {
  readonly settings: EffectiveSettings;
  readonly given: { readonly arguments: Arguments };
  readonly policies: BrokerTopology["policies"];
  readonly shape: QueueShape;
  readonly version: SemanticsVersion;
}

/** Where a limit is stated: as an argument, by policies, or by both. */
interface StatedLimit {
  readonly argument: HeaderValue | undefined;
  readonly policies: readonly { readonly policy: BrokerPolicy; readonly value: HeaderValue }[];
}

/** What the delivery limit of a queue tells by itself. */
export function limitFindings(queue: LimitedQueue): Finding[] {
  const { settings, shape, version } = queue;
  if (settings.kind !== "quorum") return [];
  const stated = statedLimit(queue);
  const rules = versionRules[version];
  if (shape === "dead") return deletedWhenLookedAt(settings, stated, rules);
  if (shape !== "work") return [];
  const first = firstFailure(settings, stated, rules);
  if (first.length > 0 || settings.messageTtlMs !== null) return first;
  if (settings.deliveryLimit === null) return unlimited(settings, stated);
  return isStated(stated) ? uncounted(settings, rules) : [];
}

function statedLimit({ settings, given, policies }: LimitedQueue): StatedLimit {
  const inForce = policies.filter(
    ({ name, kind }) => name === (kind === "user" ? settings.policy : settings.operatorPolicy),
  );
  return {
    argument: given.arguments["x-delivery-limit"] ?? undefined,
    policies: inForce.flatMap((policy) => {
      const value = policy.definition["delivery-limit"] ?? undefined;
      return value === undefined ? [] : [{ policy, value }];
    }),
  };
}

/** What is no number is left out by the broker, and told of as such. */
function isStated({ argument, policies }: StatedLimit): boolean {
  return typeof argument === "number" || policies.some(({ value }) => typeof value === "number");
}

function isNegative(value: HeaderValue | undefined): boolean {
  return typeof value === "number" && value < 0;
}

/** What somebody only looked at and put back counts as well, up to 4.2 always, and later if it is rejected or left behind. */
function deletedWhenLookedAt(settings: EffectiveSettings, stated: StatedLimit, rules: VersionRules): Finding[] {
  const { queue, deliveryLimit } = settings;
  if (deliveryLimit === null) return [];
  const times = deliveryLimit === 0 ? "once" : `${deliveryLimit + 1} times`;
  const note =
    rules.limitCounts === "returns"
      ? `a dead letter that somebody looks at and puts back ${times} is deleted`
      : `a dead letter that somebody looks at and rejects with requeue, as the management interface can, or leaves behind by closing the channel, ${times} is deleted; basic.nack with requeue does not count`;
  return [
    {
      code: "RD421",
      queue,
      predicate: `holds dead letters and has a delivery limit of ${deliveryLimit}`,
      notes: [note],
      help: helpAgainstLimit(stated, rules),
    },
  ];
}

/** From 4.0 on the larger of argument and policy counts where one of them is negative, so that both have to be; before, nothing may be stated. */
function helpAgainstLimit({ argument, policies }: StatedLimit, rules: VersionRules): string {
  const named = policies.map(({ policy }) => nameText(policy.name)).join(" and ");
  if (rules.negativeDeliveryLimit === "first-return") {
    const why =
      isNegative(argument) || policies.some(({ value }) => isNegative(value))
        ? ": this version takes a negative limit for 0"
        : "";
    const fixes = [
      ...(argument === undefined ? [] : ["take x-delivery-limit away when the queue is made again"]),
      ...(policies.length === 0 ? [] : [`have no delivery-limit in the policy ${named} for this queue`]),
    ];
    return `${fixes.join(", and ")}${why}`;
  }
  if (policies.length === 0)
    return "set the argument x-delivery-limit to -1 when the queue is made; it cannot be changed later";
  const byPolicy = `give the queue a policy without delivery-limit in place of ${named}`;
  if (isNegative(argument))
    return `${byPolicy}: the policy's limit goes before the argument -1, since the larger one counts`;
  return `${byPolicy}, and make the queue again with x-delivery-limit -1; with only one of the two the limit stays`;
}

/** Up to 3.13 any count is more than a negative limit. */
function firstFailure(settings: EffectiveSettings, stated: StatedLimit, rules: VersionRules): Finding[] {
  if (rules.negativeDeliveryLimit !== "first-return" || settings.deliveryLimit !== 0) return [];
  if (!isNegative(stated.argument) && !stated.policies.some(({ value }) => isNegative(value))) return [];
  const end = settings.deadLetterExchange === null ? "deleted" : "dead-lettered";
  return [
    {
      code: "RD430",
      queue: settings.queue,
      predicate: "has a negative delivery limit, which this version takes for 0",
      notes: [`a message that is given back once, or whose consumer goes away with it once, is ${end}`],
      help: "leave the limit out for none; a negative one means that from 4.0 on only",
    },
  ];
}

/** A consumer's queue that dead-letters is meant to be rid of what cannot be handled. */
function unlimited({ queue, deadLetterExchange }: EffectiveSettings, { argument }: StatedLimit): Finding[] {
  if (deadLetterExchange === null || argument !== undefined) return [];
  return [
    {
      code: "RD415",
      queue,
      predicate: "has no delivery limit",
      notes: ["a message whose consumer goes down with it, or requeues it, comes back at once, for ever"],
      help: "set delivery-limit in a policy, and have what exceeds it dead-lettered",
    },
  ];
}

function uncounted({ queue, deliveryLimit, delayedRetry }: EffectiveSettings, rules: VersionRules): Finding[] {
  if (rules.limitCounts !== "failures") return [];
  const isDelayed = delayedRetry !== null && delayedRetry.returns !== "failed";
  const when = isDelayed ? `after ${delayedRetry.minMs} ms each time` : "at once";
  return [
    {
      code: "RD417",
      queue,
      predicate: `has a delivery limit of ${deliveryLimit} that basic.nack with requeue never reaches`,
      notes: [
        `from 4.3 on it counts failures: a consumer that goes away, and basic.reject with requeue; a consumer that uses basic.nack with requeue gets the message back ${when}, for ever`,
      ],
      help: "have the consumer use basic.reject with requeue for a failure, and basic.nack only to hand back what it has not tried",
    },
  ];
}
