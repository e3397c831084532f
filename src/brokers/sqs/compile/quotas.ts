import { type Quota, beyond } from "../../../contract/quota.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { isArn } from "./arn.ts";
import type { SqsTarget } from "./capabilities.ts";
import { queuePolicy } from "./queue-policy.ts";
import { partitionOf } from "./regions.ts";
import type { SqsQueue, SqsTopology } from "./topology.ts";

const filters = 'SNS Developer Guide, "Filter policy constraints"';
const askBefore =
  'ask AWS for a higher quota before the deployment, or let consumers take "all" of a source, which needs no filter policy';

/**
 * The quotas of AWS for the resources of a system. AWS would refuse the excess in the middle of a deployment. Names of
 * alarms need no check: they may have 255 characters, and are little longer than a queue's name with 80 at most.
 */
const quotas = {
  fifoSubscriptions: {
    code: "RD219",
    what: "subscriptions",
    most: 100,
    source: 'Amazon SNS features, "Message fanout", of FIFO topics',
    help: "divide its messages between two sources",
  },
  policyBytes: {
    code: "RD219",
    what: "bytes",
    most: 8_192,
    source: 'SQS Developer Guide, "Amazon SQS policy quotas"',
    help: "take from fewer sources, since the policy names the topic of each, or give them shorter names",
  },
  topicFilters: {
    code: "RD220",
    what: "filter policies",
    most: 200,
    unless: "unless you request more",
    source: filters,
    help: askBefore,
  },
  accountFilters: {
    code: "RD220",
    what: "filter policies",
    most: 10_000,
    unless: "unless you request more",
    source: filters,
    help: askBefore,
  },
} satisfies Readonly<Record<string, Quota>>;

function isFiltered({ filterPolicy, stated }: SqsTopology["subscriptions"][number]): boolean {
  return filterPolicy !== null || stated !== undefined;
}

/** Finds the resources of a system beyond the quotas of SQS and SNS, for every way of deployment. */
export function diagnoseQuotas(topology: SqsTopology, target: SqsTarget): Diagnostic[] {
  const { topics, subscriptions } = topology;
  const byTopic = Map.groupBy(subscriptions, ({ topic }) => topic);
  const filtered = subscriptions.filter(isFiltered).length;
  return [
    ...topics.flatMap(({ name, source, fifo }) => {
      const own = byTopic.get(name) ?? [];
      const path = ["sources", source];
      const filterPolicies = own.filter(isFiltered).length;
      return [
        ...(fifo ? beyond(quotas.fifoSubscriptions, own.length, path, `the FIFO topic ${name} would have`) : []),
        ...beyond(quotas.topicFilters, filterPolicies, path, `the topic ${name} would have`),
      ];
    }),
    ...beyond(quotas.accountFilters, filtered, ["consumers"], "the account would have"),
    ...diagnosePolicies(topology, target),
  ];
}

/**
 * Checks the policies of queues, which name the topic of every source.
 *
 * @param nameOf the name of a queue or topic at AWS, if it differs from the topology's
 */
export function diagnosePolicies(
  { queues }: SqsTopology,
  target: Pick<SqsTarget, "region" | "partition" | "account">,
  nameOf: (name: string) => string = (name) => name,
): Diagnostic[] {
  const { region, partition = partitionOf(region) ?? "aws", account = "123456789012" } = target;
  const arn = (service: string, name: string): string =>
    isArn(name) ? name : `arn:${partition}:${service}:${region}:${account}:${nameOf(name)}`;
  const bytesOf = (queue: SqsQueue): number =>
    bytesIn(queuePolicy(queue, { queue: (name) => arn("sqs", name), topic: (name) => arn("sns", name) }));
  // The queues of a consumer have the same topics, and differ in their names.
  return [...Map.groupBy(queues, ({ consumer }) => consumer)].flatMap(([consumer, own]) => {
    const bytes = Math.max(...own.map(bytesOf));
    return beyond(quotas.policyBytes, bytes, ["consumers", consumer ?? "", "from"], "the policy of a queue would have");
  });
}

export function bytesIn(value: object, indent?: number): number {
  return new TextEncoder().encode(JSON.stringify(value, null, indent)).length;
}
