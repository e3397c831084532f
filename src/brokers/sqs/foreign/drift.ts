import { type Checked, accepted, refusedFor } from "../../../diagnostics/diagnostic.ts";
import { overlay } from "../../../contract/overlay.ts";
import { type AppliedDifference, type Drift, driftOn, otherwise } from "../../drift.ts";
import { isArn } from "../compile/arn.ts";
import type { SqsTarget } from "../compile/capabilities.ts";
import type { SqsCompiled } from "../compile/compile.ts";
import { compareAttributes } from "../compile/differences.ts";
import * as fields from "../compile/fields.ts";
import type { SnsSubscription, SqsQueue, SqsTopology } from "../compile/topology.ts";
import { concernedBy, subjectsOf } from "../prove/model.ts";
import type { MessageState } from "../prove/semantics.ts";
import { type Deployment, accountIn, concurrencyOf, known, nameIn, placeIn } from "./deployment.ts";
import { besideMapping, besideQueue, besideSubscription } from "./drift-beside.ts";
import { type Found, foundIn, namedIn, queueAsFound, subscriptionAsFound } from "./found.ts";
import { readDocuments } from "./read-listing.ts";

type Difference = AppliedDifference<SqsTopology, MessageState>;

/** The differences of one kind of resource, and the parts that could not be compared. */
interface Compared {
  readonly differences: readonly Difference[];
  readonly unread: readonly string[];
}

/**
 * Compares a compiled system with the queues, subscriptions and mappings of an account and region.
 *
 * Subscriptions of other queues to a declared topic are no difference. A deployment lists no topics: a topic that is
 * gone has no subscriptions.
 *
 * @returns a refusal if the deployment has several accounts or regions, or another region than the target
 */
export function driftOf(
  deployment: Deployment,
  compiled: SqsCompiled,
  target: SqsTarget,
): Checked<Drift<MessageState>> {
  const places = new Set(deployment.regions.flatMap(({ queues }) => queues.slice(0, 1).map(({ arn }) => placeIn(arn))));
  const found = foundIn(deployment);
  if (places.size > 1 || found.region !== target.region)
    return refusedFor("RD315", {
      path: "",
      message: `a system lies in one account and in the region of its target, and the source has ${deployment.regions.map(({ name }) => name).join(", ")}`,
      value: deployment.regions.map(({ name }) => name),
      help: "name the region in the target and behind sqs: in the URL, or list the queues of one account and region alone",
    });
  const { topology } = compiled;
  const parts = [queues(topology, found), subscriptions(topology, found), mappings(topology, found)];
  const all = parts.flatMap(({ differences }) => differences);
  const declaredNames = new Set(topology.queues.map(({ name }) => name));
  const others = [...found.queues.values()].filter(({ name }) => !declaredNames.has(name));
  // A changed redrive policy can lead into any of the other queues.
  const base: SqsTopology = {
    ...topology,
    queues: [...topology.queues, ...others.map((queue) => queueAsFound(queue, null, topology, found))],
  };
  return accepted(
    driftOn(
      { ...compiled, topology: base },
      all,
      { subjectsOf, concernedBy },
      { unread: parts.flatMap(({ unread }) => unread), unreadHelp },
    ),
  );
}

const unreadHelp =
  "list all attributes, by aws sqs get-queue-attributes --attribute-names All and aws sns get-subscription-attributes, or grant the right to read them";

function queues(topology: SqsTopology, found: Found): Compared {
  const unread: string[] = [];
  const differences = topology.queues.flatMap((queue): Difference[] => {
    const { name } = queue;
    const there = found.queues.get(name);
    if (there === undefined) {
      if (!found.deployment.listedNames.has(name))
        return [{ ...missing("queue", name), apply: (before) => withQueues(before, name, []) }];
      unread.push(`the attributes of the queue ${name} may not be read`);
      return [];
    }
    const table = { ...fields.queueFields, ...fields.policyFields };
    const { settings, unsaid } = compareAttributes(table, queue, there.attributes, found.place);
    unread.push(...unsaid.map((key) => `SQS does not say ${key} of the queue ${name}`));
    if (settings.length === 0) return [];
    const changed = queueAsFound(there, queue, topology, found);
    const beside = besideQueue(
      queue,
      there,
      settings,
      queue.sendersTopics.map((topic) => found.arn("sns", topic)),
      (known(found.deployment.subscriptions) ?? []).flatMap((each) =>
        // The owner of a topic in another account may have subscribed the queue, and that is in no list of this one.
        each.queueArn === there.arn || accountIn(each.topicArn) === accountIn(there.arn) ? [each.topicArn] : [],
      ),
    );
    const apply = (before: SqsTopology) => withQueues(before, name, [changed]);
    return [{ change: "different", kind: "queue", name, settings, beside, apply }];
  });
  return { differences, unread };
}

function subscriptions(topology: SqsTopology, found: Found): Compared {
  const { deployment, place } = found;
  if (deployment.subscriptions === "untold")
    return { differences: [], unread: topology.topics.length === 0 ? [] : ["the subscriptions are not listed"] };
  const unread: string[] = [];
  const own = new Map(topology.queues.map(({ name, consumer }) => [name, consumer]));
  const there = new Map(deployment.subscriptions.map((each) => [`${each.topicArn} ${each.queueArn}`, each]));
  const differences = topology.subscriptions.flatMap((subscription): Difference[] => {
    const { topic, queue } = subscription;
    const key = `${found.arn("sns", topic)} ${found.arn("sqs", queue)}`;
    const each = there.get(key);
    there.delete(key);
    const name = `${topic} to ${queue}`;
    const put = (changed: readonly SnsSubscription[]) => (before: SqsTopology) =>
      withSubscriptions(before, subscription, changed);
    if (each === undefined) return [{ ...missing("subscription", name), beside: null, apply: put([]) }];
    const { settings, unsaid } = compareAttributes(fields.subscriptionFields, subscription, each.attributes, place);
    unread.push(...unsaid.map((attribute) => `SNS does not say ${attribute} of the subscription of ${name}`));
    if (settings.length === 0) return [];
    const changed = subscriptionAsFound(each, subscription, found);
    const beside = besideSubscription(subscription, each, settings);
    return [{ change: "different", kind: "subscription", name, settings, beside, apply: put([changed]) }];
  });
  const extra = [...there.values()].flatMap((each): Difference[] => {
    const [topic, queue] = [namedIn(found, each.topicArn), namedIn(found, each.queueArn)];
    if (!own.has(queue)) return [];
    const added = {
      topic,
      queue,
      consumer: own.get(queue) ?? "",
      filterPolicy: null,
      rawMessageDelivery: true,
    } as const;
    const changed = subscriptionAsFound(each, { ...added, deadQueue: "" }, found);
    const reason = `messages of the topic ${topic} enter ${queue}`;
    const apply = (before: SqsTopology): SqsTopology => ({
      ...withSubscriptions(before, added, [changed]),
      topics: before.topics.some(({ name }) => name === topic)
        ? before.topics
        : [...before.topics, { name: topic, source: topic, fifo: topic.endsWith(".fifo") }],
    });
    const beside = otherwise(reason);
    return [{ change: "extra", kind: "subscription", name: `${topic} to ${queue}`, settings: [], beside, apply }];
  });
  return { differences: [...differences, ...extra], unread };
}

/** Lambda is no part of the model: it receives as a consumer of the contract does. */
function mappings(topology: SqsTopology, found: Found): Compared {
  const { deployment, place } = found;
  if (!deployment.knowsMappings)
    return { differences: [], unread: topology.mappings.length === 0 ? [] : ["the mappings of Lambda are not listed"] };
  const own = new Set(topology.queues.map(({ name }) => name));
  const apply = (same: SqsTopology): SqsTopology => same;
  const all = deployment.mappings.map((each) => ({ ...each, queue: namedIn(found, each.queueArn) }));
  const isFor = (mapping: SqsTopology["mappings"][number]) => (each: (typeof all)[number]) =>
    each.queue === mapping.queue && each.functionName === (mapping.functionName.split(":")[6] ?? mapping.functionName);
  const differences = topology.mappings.flatMap((mapping): Difference[] => {
    const name = `${mapping.queue} to ${mapping.functionName}`;
    const there = all.find(isFor(mapping));
    const reason = `Lambda does not hand messages of ${mapping.queue} to ${mapping.functionName}`;
    if (there === undefined) return [{ ...missing("mapping", name), beside: otherwise(reason), apply }];
    const most = concurrencyOf(there.attributes);
    const settings = [
      ...compareAttributes(fields.mappingFields, mapping, there.attributes, place).settings,
      ...(most === mapping.maximumConcurrency
        ? []
        : [{ key: "ScalingConfig", declared: mapping.maximumConcurrency ?? "none", deployed: most ?? "none" }]),
    ];
    const beside = besideMapping(there);
    if (settings.length === 0 && there.hasFilters !== true) return [];
    return [{ change: "different", kind: "mapping", name, settings, beside, apply }];
  });
  const extra = all
    .filter((each) => own.has(each.queue) && !topology.mappings.some((mapping) => isFor(mapping)(each)))
    .map(({ queue, functionName }): Difference => {
      const beside = otherwise(`Lambda hands messages of ${queue} to ${functionName}`);
      return { change: "extra", kind: "mapping", name: `${queue} to ${functionName}`, settings: [], beside, apply };
    });
  return { differences: [...differences, ...extra], unread: [] };
}

function missing(kind: string, name: string) {
  return { change: "missing", kind, name, settings: [], beside: otherwise("no message can pass through it") } as const;
}

function withQueues(before: SqsTopology, name: string, changed: readonly SqsQueue[]): SqsTopology {
  return { ...before, queues: before.queues.flatMap((each) => (each.name === name ? changed : [each])) };
}

function withSubscriptions(
  before: SqsTopology,
  { topic, queue }: Pick<SnsSubscription, "topic" | "queue">,
  changed: readonly SnsSubscription[],
): SqsTopology {
  const others = before.subscriptions.filter((each) => each.topic !== topic || each.queue !== queue);
  return { ...before, subscriptions: [...others, ...changed] };
}

/** Any account. No comparison of two declarations looks at it. */
const account = "000000000000";

/**
 * A compiled system as the content of an account, after it was deployed over another one. A deployment deletes a
 * subscription only if its queue stays declared: see `make/deploy.ts`.
 */
export function deploymentOf({ topology }: SqsCompiled, over?: SqsCompiled): Deployment {
  const region = topology.target.split("@")[1] ?? "";
  const before = over?.topology;
  const declared = new Set(topology.queues.map(({ name }) => name));
  const left = (before?.subscriptions ?? []).filter((each) => !declared.has(each.queue));
  const leftMappings = (before?.mappings ?? []).filter((each) => !declared.has(each.queue));
  const whole = {
    ...topology,
    queues: overlay(before?.queues ?? [], topology.queues, ({ name }) => name),
    subscriptions: [...left, ...topology.subscriptions],
    mappings: [...leftMappings, ...topology.mappings],
  };
  const arn = (service: string, name: string): string =>
    isArn(name) ? name : `arn:aws:${service}:${region}:${account}:${name}`;
  return readBack(answersOf(whole, region, arn));
}

/** The content of an account after a compiled system was deployed over it. A queue keeps attributes that no system has. */
export function deployedOver(deployment: Deployment, { topology }: SqsCompiled): Deployment {
  const found = foundIn(deployment);
  const made = answersOf(topology, found.region, found.arn);
  const written = readBack(made);
  const queues = new Set(topology.queues.map(({ name }) => found.arn("sqs", name)));
  const keyOf = ({ topicArn, queueArn }: { readonly topicArn: string; readonly queueArn: string }): string =>
    `${topicArn} ${queueArn}`;
  const subscribed = new Set((known(written.subscriptions) ?? []).map(keyOf));
  return readBack([
    ...deployment.regions.flatMap((each) =>
      each.queues.filter(({ arn }) => !queues.has(arn)).map(({ attributes }) => ({ Attributes: attributes })),
    ),
    ...made,
    ...(known(deployment.subscriptions) ?? [])
      .filter((each) => !subscribed.has(keyOf(each)))
      .map(({ attributes }) => ({ Attributes: attributes })),
  ]);
}

/** The answers of AWS about a topology. */
function answersOf(
  { queues: own, subscriptions: subscribed, mappings: mapped }: SqsTopology,
  region: string,
  arn: (service: "sqs" | "sns", name: string) => string,
): readonly object[] {
  const [queue, topic] = [(name: string) => arn("sqs", name), (name: string) => arn("sns", name)];
  const writing: fields.Writing = { queue, topic, source: queue, tags: () => undefined, dimensions: () => undefined };
  const written = <Entity>(table: fields.Fields<Entity>, each: Entity, more: object) => ({
    Attributes: { ...fields.propertiesOf(table, each, writing), ...more },
  });
  const table = { ...fields.queueFields, ...fields.policyFields };
  return [
    ...own.map((each) => written(table, each, { QueueArn: queue(each.name) })),
    { Subscriptions: [] },
    ...subscribed.map((each) => written(fields.subscriptionFields, each, { SubscriptionArn: topic(each.topic) })),
    {
      EventSourceMappings: mapped.map((each) => ({
        ...fields.propertiesOf(fields.mappingFields, each, writing),
        ScalingConfig: { MaximumConcurrency: each.maximumConcurrency },
        FunctionArn: `arn:aws:lambda:${region}:${account}:function:${nameIn(each.functionName)}`,
        State: "Enabled",
      })),
    },
  ];
}

function readBack(answers: readonly object[]): Deployment {
  const read = readDocuments(answers);
  if (!read.ok) throw new Error("a compiled system could not be read back");
  return read.value;
}
