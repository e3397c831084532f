import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { deploymentsInState, stateTools } from "../../src/cli/audit-source.ts";
import { parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";
import { adoptedTopologies, type AdoptedTopology, exportOf } from "../support/adopted-topologies.ts";
import { accepted } from "../support/examples.ts";
import { queue } from "../support/sqs-listing.ts";

// The same topology in a file of definitions, in a stack of Pulumi and in a state of Terraform.

type Values = Readonly<Record<string, unknown>>;

interface Part {
  readonly name: string;
  readonly auto_delete: boolean;
  readonly arguments: Values;
}

interface Given {
  readonly exchanges: readonly (Part & { readonly type: string })[];
  readonly queues: readonly Part[];
  readonly bindings: readonly {
    readonly source: string;
    readonly destination: string;
    readonly destination_type: string;
    readonly routing_key: string;
    readonly arguments: Values;
  }[];
  readonly policies?: readonly {
    readonly name: string;
    readonly pattern: string;
    readonly "apply-to": string;
    readonly priority: number;
    readonly definition: Values;
  }[];
}

const texts = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));

/** A resource as each tool keeps it: its kind, its id, and its values in the words of Pulumi and of Terraform. */
type Kept = readonly [kind: string, id: string, pulumi: Values, terraform: Values];

function keptOf({ exchanges, queues, bindings, policies = [] }: Given): readonly Kept[] {
  return [
    ...exchanges.map(({ name, type, auto_delete, arguments: given }): Kept => {
      const settings = { type, durable: true, arguments: given };
      const own = { name, vhost: "/" };
      return [
        "exchange",
        `${name}@/`,
        { ...own, settings: { ...settings, autoDelete: auto_delete } },
        { ...own, settings: [{ ...settings, auto_delete }] },
      ];
    }),
    ...queues.map(({ name, auto_delete, arguments: given }): Kept => {
      const own = { name, vhost: "/" };
      const json = JSON.stringify(given);
      return [
        "queue",
        `${name}@/`,
        { ...own, settings: { durable: true, autoDelete: auto_delete, argumentsJson: json } },
        { ...own, settings: [{ durable: true, auto_delete, arguments: null, arguments_json: json }] },
      ];
    }),
    ...bindings.map((each): Kept => {
      const { source, destination, destination_type, routing_key, arguments: given } = each;
      const key = routing_key === "" ? "~" : routing_key.replaceAll("#", "%23").replaceAll("*", "%2A");
      const own = { source, destination, vhost: "/", arguments: given };
      return [
        "binding",
        `%2F/${source}/${destination}/${destination_type}/${key}`,
        { ...own, destinationType: destination_type, routingKey: routing_key, propertiesKey: key },
        { ...own, destination_type, routing_key, properties_key: key, arguments_json: null },
      ];
    }),
    ...policies.map(({ name, definition, "apply-to": applyTo, ...rest }): Kept => {
      const policy = { ...rest, definition: texts(definition) };
      const own = { name, vhost: "/" };
      return [
        "policy",
        `${name}@/`,
        { ...own, policy: { ...policy, applyTo } },
        { ...own, policy: [{ ...policy, apply_to: applyTo }] },
      ];
    }),
  ];
}

function stackOf(kept: readonly Kept[]): string {
  const resources = kept.map(([kind, id, outputs]) => {
    const type = `rabbitmq:index/${kind}:${kind.replace(/^./, (letter) => letter.toUpperCase())}`;
    return { type, urn: `urn:pulumi:prod::shop::${type}::${id}`, custom: true, id, outputs };
  });
  return JSON.stringify({ version: 3, deployment: { resources } });
}

const managed = (type: string, name: string, attributes: object) => ({
  mode: "managed",
  type,
  name,
  provider: `provider["registry.example/owner/${type.split("_")[0]}"]`,
  instances: [{ schema_version: 0, attributes }],
});

const stateOf = (resources: readonly object[]): string =>
  JSON.stringify({ version: 4, terraform_version: "1.11.4", serial: 3, lineage: "l", outputs: {}, resources });

function terraformOf(kept: readonly Kept[]): string {
  return stateOf(
    kept.map(([kind, id, , attributes], index) => managed(`rabbitmq_${kind}`, `r${index}`, { ...attributes, id })),
  );
}

const target = accepted(parseTarget("rabbitmq@4.3"));
const adopted = (deployment: unknown): Adopted =>
  accepted(adoptDeployment(deployment, target, { name: "shop", queues: [] }));

function inState(text: string, option: string): unknown {
  const tool = stateTools.find((each) => each.option === option);
  return accepted(deploymentsInState(text, tool)).map(({ deployment }) => deployment)[0];
}

describe("a topology in a state is adopted as from the broker", () => {
  test.for(Object.entries(adoptedTopologies))("%s", ([, topology]: [string, AdoptedTopology]) => {
    const read = accepted(brokers.rabbitmq.auditor.file.read(exportOf(topology)));
    const wanted = adopted(read);
    const kept = keptOf(topology.definitions as unknown as Given);
    for (const [option, text] of [
      ["stack", stackOf(kept)],
      ["terraformState", terraformOf(kept)],
    ] as const) {
      const { draft, imports, judged } = adopted(inState(text, option));
      expect(draft, option).toEqual(wanted.draft);
      expect(judged, option).toEqual(wanted.judged);
      // A state shows the ids of bindings with arguments, and definitions do not.
      expect(wanted.imports.entries.filter((each) => !imports.entries.some(({ id }) => id === each.id))).toEqual([]);
    }
  });
});

test("queues of SQS in a state of Terraform are adopted as from their account", () => {
  const queueArn = "arn:aws:sqs:eu-west-1:123456789012:billing";
  const [deadArn, topicArn] = [`${queueArn}-dlq`, "arn:aws:sns:eu-west-1:123456789012:orders"];
  const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:bill";
  const redrive = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: 4 });
  const filter = JSON.stringify({ routing_key: ["order.placed"] });
  const resources = [
    managed("aws_sqs_queue", "dlq", { arn: deadArn, url: "https://dlq", name: "billing-dlq" }),
    managed("aws_sqs_queue", "work", {
      arn: queueArn,
      url: "https://billing",
      name: "billing",
      visibility_timeout_seconds: 40,
      message_retention_seconds: 345_600,
      kms_master_key_id: null,
      sqs_managed_sse_enabled: true,
    }),
    managed("aws_sqs_queue_redrive_policy", "work", { queue_url: "https://billing", redrive_policy: redrive }),
    managed("aws_sns_topic_subscription", "work", {
      topic_arn: topicArn,
      protocol: "sqs",
      endpoint: queueArn,
      raw_message_delivery: true,
      filter_policy: filter,
    }),
    managed("aws_lambda_function", "bill", { arn: functionArn, function_name: "bill", timeout: 6, environment: [] }),
    managed("aws_lambda_event_source_mapping", "work", {
      event_source_arn: queueArn,
      function_name: functionArn,
      function_arn: functionArn,
      enabled: true,
      batch_size: 10,
      filter_criteria: [{ filter: [{ pattern: "{}" }] }],
      scaling_config: [],
    }),
  ];
  const attributes = { VisibilityTimeout: 40, MessageRetentionPeriod: 345_600, SqsManagedSseEnabled: true };
  const listing = [
    queue("billing-dlq"),
    queue("billing", { ...attributes, RedrivePolicy: redrive }),
    {
      Attributes: {
        SubscriptionArn: `${topicArn}:1`,
        TopicArn: topicArn,
        Protocol: "sqs",
        Endpoint: queueArn,
        RawMessageDelivery: "true",
        FilterPolicy: filter,
      },
    },
    { FunctionArn: functionArn, Timeout: 6 },
    {
      EventSourceMappings: [
        {
          EventSourceArn: queueArn,
          FunctionArn: functionArn,
          BatchSize: 10,
          FilterCriteria: { Filters: [{ Pattern: "{}" }] },
          State: "Enabled",
        },
      ],
    },
  ];
  const region = accepted(parseTarget("sqs@eu-west-1"));
  const draftOf = (deployment: unknown): unknown =>
    accepted(adoptDeployment(deployment, region, { name: "shop", queues: [] })).draft;
  const wanted = draftOf(accepted(brokers.sqs.auditor.file.read(JSON.stringify(listing))));
  expect(draftOf(inState(stateOf(resources), "terraformState"))).toEqual(wanted);
  expect(wanted).toMatchObject({ system: { consumers: { billing: { retry: { attempts: 4 } } } } });
});

describe("a state of Terraform", () => {
  const orders = { name: "orders", vhost: "/", settings: [{ durable: true }] };
  const read = (state: object): ReturnType<typeof deploymentsInState> =>
    deploymentsInState(
      JSON.stringify(state),
      stateTools.find(({ option }) => option === "terraformState"),
    );
  const queuesIn = (...resources: readonly object[]): unknown =>
    accepted(read({ version: 4, resources })).map(({ state }) => state?.resources.map(({ urn }) => urn));

  test("names each resource by its address", () => {
    const instance = (index_key: unknown, more: object = {}): object => ({ index_key, attributes: orders, ...more });
    const many = {
      ...managed("rabbitmq_queue", "q", orders),
      instances: [instance(0), instance('a"b'), instance("c")],
    };
    expect(queuesIn({ ...many, module: "module.shop[1]" })).toEqual([
      [
        "module.shop[1].rabbitmq_queue.q[0]",
        String.raw`module.shop[1].rabbitmq_queue.q["a\"b"]`,
        'module.shop[1].rabbitmq_queue.q["c"]',
      ],
    ]);
  });

  test("holds no data sources, and no instance that waits for its deletion", () => {
    const own = managed("rabbitmq_queue", "own", orders);
    const deposed = { ...own, name: "old", instances: [{ deposed: "00000001", attributes: orders }] };
    expect(queuesIn(own, deposed, { ...own, mode: "data", name: "looked_up" })).toEqual([["rabbitmq_queue.own"]]);
  });

  test("has two brokers if it has two configurations of the provider", () => {
    const own = managed("rabbitmq_queue", "own", orders);
    const [found] = accepted(read({ version: 4, resources: [own, { ...own, provider: `${own.provider}.eu` }] }));
    const { virtualHosts } = (found ?? expect.unreachable()).deployment as {
      readonly virtualHosts: readonly { readonly name: string }[];
    };
    expect(virtualHosts.map(({ name }) => name)).toEqual(["default: /", "eu: /"]);
  });

  test.for([
    ["another version", { version: 3, modules: [] }],
    ["the output of terraform show", { format_version: "1.0", values: { root_module: {} } }],
    ["no resources", { version: 4 }],
    ["resources of other providers alone", { version: 4, resources: [managed("aws_s3_bucket", "b", {})] }],
  ])("with %s is refused", ([, state]) => {
    const answer = read(state as object);
    expect(answer.ok ? [] : answer.diagnostics.map(({ code }) => code)).toEqual(["RD401"]);
  });
});
