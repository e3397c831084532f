import { type Checked, accepted, formatPath } from "../../../diagnostics/diagnostic.ts";
import type { DeploymentPart } from "../../broker.ts";
import { type Entry, isEntry } from "../../../foreign/entries.ts";
import type { SqsTarget } from "../compile/capabilities.ts";

/**
 * A value that the source may not show: secret, not known yet, or not asked for. The audit says nothing about an untold
 * value.
 */
export type Told<Value> = Value | "untold";

/** The value. Null also if the source does not show it. */
export function known<Value>(told: Told<Value>): Value | null {
  return told === "untold" ? null : told;
}

/** The content of accounts, regardless of its origin. ARNs identify everything. */
export interface Deployment {
  readonly regions: readonly AuditedRegion[];
  /** The subscriptions of queues to topics. Untold if the source did not ask for them. */
  readonly subscriptions: Told<readonly AuditedSubscription[]>;
  readonly mappings: readonly LambdaMapping[];
  /** False if the source did not ask for mappings. */
  readonly knowsMappings: boolean;
  /** The queues that a queue, a subscription or a function dead-letters to. */
  readonly deadLetterArns: ReadonlySet<string>;
  /**
   * True if the deployment has every queue of the regions. Then a queue that is not here does not exist. A stack is
   * only a part of an account.
   */
  readonly isWhole: boolean;
  /** The names of queues that exist. Their other attributes may be unknown. */
  readonly listedNames: ReadonlySet<string>;
}

/** The queues of one account in one region. A dead-letter queue is always in the same account and region. */
export interface AuditedRegion {
  /** The region, such as `eu-west-1`. The account follows if there are several. */
  readonly name: string;
  readonly queues: readonly AuditedQueue[];
}

/** A queue with the attributes that decide about its messages. Null stands for an unknown number. */
export interface AuditedQueue {
  readonly arn: string;
  readonly name: string;
  readonly fifo: boolean;
  readonly visibilityTimeoutSeconds: number | null;
  readonly retentionSeconds: number | null;
  readonly delaySeconds: number | null;
  readonly redrive: Told<AuditedRedrive | null>;
  readonly redriveAllow: Told<AuditedRedriveAllow>;
  readonly isEncrypted: Told<boolean>;
  /** The KMS key by its id, ARN or alias. Null for none. */
  readonly keyId: Told<string | null>;
  /** The statements of its policy. Empty without a policy. */
  readonly statements: Told<readonly Entry[]>;
  /** All attributes as they came, for a comparison. */
  readonly attributes: Entry;
}

export interface AuditedRedrive {
  readonly targetArn: string;
  /** Null in a preview that does not know it. */
  readonly maxReceiveCount: number | null;
}

/** The queues that may use this one as their dead-letter queue. By default, AWS allows all. */
export interface AuditedRedriveAllow {
  readonly permission: "allowAll" | "denyAll" | "byQueue";
  readonly sourceArns: readonly string[];
}

export interface AuditedSubscription {
  readonly topicArn: string;
  readonly queueArn: string;
  readonly deadLetterArn: Told<string | null>;
  /** Null takes every message. */
  readonly filterPolicy: Told<Entry | null>;
  readonly attributes: Entry;
}

/** A Lambda function that Lambda calls with the messages of a queue. */
/** The most batches that Lambda takes at a time. Null for no such limit. */
export function concurrencyOf({ ScalingConfig: scaling }: Entry): number | null {
  const most = isEntry(scaling) ? scaling["MaximumConcurrency"] : undefined;
  return typeof most === "number" ? most : null;
}

export interface LambdaMapping {
  readonly queueArn: string;
  readonly functionName: string;
  readonly timeoutSeconds: number | null;
  readonly batchSize: number | null;
  readonly batchWindowSeconds: number | null;
  readonly reportsItemFailures: Told<boolean>;
  readonly hasFilters: Told<boolean>;
  readonly attributes: Entry;
}

export type Draft = Pick<Deployment, "subscriptions" | "mappings" | "knowsMappings" | "isWhole" | "listedNames"> & {
  readonly queues: readonly AuditedQueue[];
  readonly otherDeadLetterArns: readonly string[];
};

/** Assembles the parts. If a queue occurs twice, the first counts. */
export function assembleDeployment({ queues, otherDeadLetterArns, ...rest }: Draft): Deployment {
  const distinct = [...new Map(queues.toReversed().map((queue) => [queue.arn, queue])).values()].toReversed();
  const byPlace = Map.groupBy(distinct, ({ arn }) => placeIn(arn));
  const nameOf = regionNamer(distinct.map(({ arn }) => arn));
  return {
    ...rest,
    regions: [...byPlace.values()].map((own) => ({ name: nameOf(own[0]?.arn ?? ""), queues: own })),
    deadLetterArns: new Set([
      ...otherDeadLetterArns,
      ...distinct.flatMap(({ redrive }) => known(redrive)?.targetArn ?? []),
      ...(known(rest.subscriptions) ?? []).flatMap(({ deadLetterArn }) => known(deadLetterArn) ?? []),
    ]),
  };
}

/** Names the region of a queue. The account is added if there are several. */
export function regionNamer(arns: readonly string[]): (arn: string) => string {
  const accounts = new Set(arns.map(accountIn));
  return (arn) => (accounts.size > 1 ? `${regionIn(arn)} of ${accountIn(arn)}` : regionIn(arn) || "no region");
}

/** True if a text is the ARN of a queue: `arn:aws:sqs:eu-west-1:123456789012:orders`. */
export function isQueueArn(text: unknown): text is string {
  return typeof text === "string" && /^arn:[^:]*:sqs:[^:]*:[^:]*:[^:]+$/.test(text);
}

/** The last part of an ARN is the resource's own name. */
export function nameIn(arn: string): string {
  return arn.split(":").at(-1) ?? arn;
}

export function regionIn(arn: string): string {
  return arn.split(":")[3] ?? "";
}

export function accountIn(arn: string): string {
  return arn.split(":")[4] ?? "";
}

/** The partition, the region and the account. A queue and its dead-letter queue must have them in common. */
export function placeIn(arn: string): string {
  const [, partition, , region, account] = arn.split(":");
  return JSON.stringify([partition, region, account]);
}

/** A queue or topic is FIFO exactly if its name ends with `.fifo`. Source: API Reference, `CreateQueue`, QueueName. */
export function isFifo(arn: string): boolean {
  return arn.endsWith(".fifo");
}

/** A place in a deployment, as diagnostics write it: `regions.eu-west-1.queues.orders`. */
export function placeOf(region: string, queue: string | null): string {
  return formatPath(["regions", region, ...(queue === null ? [] : ["queues", queue])]);
}

const anyRegion: SqsTarget = Object.freeze({ broker: "sqs", region: "us-east-1", strategy: "auto" });

/** SQS has no versions, and all regions have the same rules. So without queues the target may name any region. */
export function targetOf({ regions }: Deployment): Checked<SqsTarget> {
  const region = regionIn(regions[0]?.queues[0]?.arn ?? "");
  return accepted(region === "" ? anyRegion : { ...anyRegion, region });
}

/** Each region by itself, because no dead letter ever leaves its region. */
export function partsOf(deployment: Deployment): readonly DeploymentPart<Deployment>[] {
  return deployment.regions.map((region) => ({
    name: region.name,
    queues: region.queues.length,
    deployment: { ...deployment, regions: [region] },
  }));
}
