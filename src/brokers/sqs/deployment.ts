import type { Checked } from "../../diagnostics/diagnostic.ts";
import { formatPath } from "../../diagnostics/diagnostic.ts";
import type { DeploymentPart } from "../broker.ts";
import type { Entry } from "../entries.ts";
import type { SqsTarget } from "./capabilities.ts";

/** A value that the source may keep to itself: secret, not known yet, or not asked for. Nothing is said of what is untold. */
export type Told<Value> = Value | "untold";

/** What accounts hold, whoever made it. Everything is named by its ARN. */
export interface Deployment {
  readonly regions: readonly AuditedRegion[];
  /** The subscriptions of queues to topics; untold where nobody asked for them. */
  readonly subscriptions: Told<readonly AuditedSubscription[]>;
  readonly mappings: readonly LambdaMapping[];
  /** The queues that something names as the place of its dead letters: a queue, a subscription, a function. */
  readonly deadLetterArns: ReadonlySet<string>;
  /** Whether every queue of the regions is here, so that one that is not here does not exist. A stack is only a part of an account. */
  readonly isWhole: boolean;
  /** Queues that are there by their names, and of which nothing else may be known. */
  readonly listedNames: ReadonlySet<string>;
}

/** The queues of one account in one region: a dead-letter queue is always in the same. */
export interface AuditedRegion {
  /** `eu-west-1`, with the account behind it where there are several. */
  readonly name: string;
  readonly queues: readonly AuditedQueue[];
}

/** A queue with the attributes that decide about its messages; null stands for a number that is not told. */
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
  /** The KMS key, by its id, ARN or alias; null for none. */
  readonly keyId: Told<string | null>;
  /** The statements of its policy; none where it has no policy. */
  readonly statements: Told<readonly Entry[]>;
}

export interface AuditedRedrive {
  readonly targetArn: string;
  /** Null in a preview that does not know it. */
  readonly maxReceiveCount: number | null;
}

/** Who may name the queue as its dead-letter queue; AWS allows all where nothing is said. */
export interface AuditedRedriveAllow {
  readonly permission: "allowAll" | "denyAll" | "byQueue";
  readonly sourceArns: readonly string[];
}

export interface AuditedSubscription {
  readonly topicArn: string;
  readonly queueArn: string;
  readonly deadLetterArn: Told<string | null>;
  /** Null takes everything. */
  readonly filterPolicy: Told<Entry | null>;
}

/** A Lambda function that is called with the messages of a queue. */
export interface LambdaMapping {
  readonly queueArn: string;
  readonly functionName: string;
  readonly timeoutSeconds: number | null;
  readonly batchSize: number | null;
  readonly batchWindowSeconds: number | null;
  readonly reportsItemFailures: Told<boolean>;
  readonly hasFilters: Told<boolean>;
}

/** What is read of a deployment before it is put together. */
export type Draft = Pick<Deployment, "subscriptions" | "mappings" | "isWhole" | "listedNames"> & {
  readonly queues: readonly AuditedQueue[];
  readonly otherDeadLetterArns: readonly string[];
};

/** Puts together what was read; of a queue that is there twice the first counts. */
export function assembleDeployment({ queues, otherDeadLetterArns, ...rest }: Draft): Deployment {
  const { subscriptions } = rest;
  const distinct = [...new Map(queues.toReversed().map((queue) => [queue.arn, queue])).values()].toReversed();
  const byPlace = Map.groupBy(distinct, ({ arn }) => placeIn(arn));
  const nameOf = regionNamer(distinct.map(({ arn }) => arn));
  return {
    ...rest,
    regions: [...byPlace.values()].map((own) => ({ name: nameOf(own[0]?.arn ?? ""), queues: own })),
    deadLetterArns: new Set([
      ...otherDeadLetterArns,
      ...distinct.flatMap(({ redrive }) => (redrive === "untold" || redrive === null ? [] : [redrive.targetArn])),
      ...(subscriptions === "untold" ? [] : subscriptions).flatMap(({ deadLetterArn }) =>
        deadLetterArn === "untold" || deadLetterArn === null ? [] : [deadLetterArn],
      ),
    ]),
  };
}

/** What the region of a queue is called: the account is told where there are several. */
export function regionNamer(arns: readonly string[]): (arn: string) => string {
  const accounts = new Set(arns.map(accountIn));
  return (arn) => (accounts.size > 1 ? `${regionIn(arn)} of ${accountIn(arn)}` : regionIn(arn) || "no region");
}

/** Whether a text names a queue: `arn:aws:sqs:eu-west-1:123456789012:orders`. */
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

/** The partition, the region and the account, which a queue and its dead-letter queue have to have in common. */
export function placeIn(arn: string): string {
  const [, partition, , region, account] = arn.split(":");
  return JSON.stringify([partition, region, account]);
}

/** A queue or topic is FIFO if its name ends so, and only then. Source: API Reference, `CreateQueue`, QueueName. */
export function isFifo(arn: string): boolean {
  return arn.endsWith(".fifo");
}

/** Where something is in a deployment, as diagnostics write it: `regions.eu-west-1.queues.orders`. */
export function placeOf(region: string, queue: string | null): string {
  return formatPath(["regions", region, ...(queue === null ? [] : ["queues", queue])]);
}

const anyRegion: SqsTarget = Object.freeze({ broker: "sqs", region: "us-east-1", strategy: "auto" });

/** SQS has no versions, and the rules of all regions are the same: whichever is named, they are meant. */
export function targetOf(): Checked<SqsTarget> {
  return { ok: true, value: anyRegion, warnings: [] };
}

/** Each region by itself: no dead letter ever leaves its region. */
export function partsOf(deployment: Deployment): readonly DeploymentPart<Deployment>[] {
  return deployment.regions.map((region) => ({
    name: region.name,
    queues: region.queues.length,
    deployment: { ...deployment, regions: [region] },
  }));
}
