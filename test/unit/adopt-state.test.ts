import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { deploymentsInState, stateTools } from "../../src/cli/audit-source.ts";
import { compile, parseTarget } from "../../src/index.ts";
import { type Adopted, adoptDeployment } from "../../src/migrate/adopt.ts";
import { adoptedTopologies, type AdoptedTopology, exportOf } from "../support/adopted-topologies.ts";
import { accepted, checked } from "../support/examples.ts";
import { runCommand } from "../support/run-command.ts";
import { queue } from "../support/sqs-listing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
      const key =
        routing_key === "" ? "~" : routing_key.replaceAll("#", "%23").replaceAll("*", "%2A").replaceAll("+", "%2B");
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

const resourcesOf = (kept: readonly Kept[]) =>
  kept.map(([kind, id, outputs]) => {
    const type = `rabbitmq:index/${kind}:${kind.replace(/^./, (letter) => letter.toUpperCase())}`;
    return { type, urn: `urn:pulumi:prod::shop::${type}::${id}`, custom: true, id, outputs };
  });

const stackOf = (kept: readonly Kept[]): string =>
  JSON.stringify({ version: 3, deployment: { resources: resourcesOf(kept) } });

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

const folder = temporaryFolder("adopt-state");
const target = accepted(parseTarget("rabbitmq@4.3"));
const adopted = (deployment: unknown): Adopted =>
  accepted(adoptDeployment(deployment, target, { name: "shop", queues: [] }));

function inState(text: string, option: string): unknown {
  const tool = stateTools.find((each) => each.option === option);
  return accepted(deploymentsInState(text, tool)).map(({ deployment }) => deployment)[0];
}

interface Told {
  readonly code: number;
  readonly forget: readonly string[];
  readonly same: number;
  readonly moves: readonly object[];
  readonly diagnostics?: readonly { readonly code: string }[];
}

/** The answer of `redeliver adopt` to a state in a file. */
async function adoptedFrom(option: string, text: string, ...more: readonly string[]): Promise<Told> {
  const file = join(folder, "state.json");
  writeFileSync(file, text);
  const { code, out } = await runCommand(["adopt", option, file, "--json", ...more]);
  return { ...(JSON.parse(out) as Told), code };
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
      expect(imports.moves.map(({ queue: moved }) => moved)).toEqual(
        wanted.imports.moves.map(({ queue: moved }) => moved),
      );
    }
  });
});

test("queues of SQS in a state of Terraform are adopted as from their account", async () => {
  const urlOf = (name: string): string => `https://sqs.eu-west-1.amazonaws.com/123456789012/${name}`;
  const queueArn = "arn:aws:sqs:eu-west-1:123456789012:billing";
  const [deadArn, topicArn] = [`${queueArn}-dlq`, "arn:aws:sns:eu-west-1:123456789012:orders"];
  const functionArn = "arn:aws:lambda:eu-west-1:123456789012:function:bill";
  const redrive = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: 4 });
  const filter = JSON.stringify({ routing_key: ["order.placed"] });
  const resources = [
    managed("aws_sqs_queue", "dlq", { id: urlOf("billing-dlq"), arn: deadArn, url: urlOf("billing-dlq"), policy: "" }),
    managed("aws_sqs_queue", "work", {
      id: urlOf("billing"),
      arn: queueArn,
      url: urlOf("billing"),
      name: "billing",
      visibility_timeout_seconds: 40,
      message_retention_seconds: 345_600,
      kms_master_key_id: null,
      sqs_managed_sse_enabled: true,
    }),
    managed("aws_sqs_queue_redrive_policy", "work", {
      id: urlOf("billing"),
      queue_url: urlOf("billing"),
      redrive_policy: redrive,
    }),
    managed("aws_sns_topic_subscription", "work", {
      id: `${topicArn}:1`,
      arn: `${topicArn}:1`,
      topic_arn: topicArn,
      protocol: "sqs",
      endpoint: queueArn,
      raw_message_delivery: true,
      filter_policy: filter,
    }),
    managed("aws_lambda_function", "bill", { arn: functionArn, function_name: "bill", timeout: 6, environment: [] }),
    managed("aws_lambda_event_source_mapping", "work", {
      event_source_arn: queueArn,
      id: "u-1",
      uuid: "u-1",
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
          UUID: "u-1",
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
  const adoptedOn = (deployment: unknown): Adopted =>
    accepted(adoptDeployment(deployment, region, { name: "shop", queues: [] }));
  const wanted = adoptedOn(accepted(brokers.sqs.auditor.file.read(JSON.stringify(listing))));
  const { draft, imports } = adoptedOn(inState(stateOf(resources), "terraformState"));
  expect([draft, imports]).toEqual([wanted.draft, wanted.imports]);
  expect(draft).toMatchObject({ system: { consumers: { billing: { retry: { attempts: 4 } } } } });
  // The old program would delete each of them. A function is none of the new one's.
  const { forget } = await adoptedFrom("--terraform-state", stateOf(resources));
  expect(forget).toEqual(
    [
      "aws_lambda_event_source_mapping.work",
      "aws_sns_topic_subscription.work",
      "aws_sqs_queue_redrive_policy.work",
      "aws_sqs_queue.work",
      "aws_sqs_queue.dlq",
    ].map((address) => `terraform state rm ${address}`),
  );
});

describe("the program that owns what is imported", () => {
  const retry = { attempts: 3, backoff: { kind: "constant", delay: "1s" } };
  const shop = {
    name: "shop",
    sources: { orders: { kind: "topic" } },
    consumers: { billing: { from: { orders: "all" }, retry }, "it's": { from: { orders: ["a+b"] }, retry } },
  };
  const compiled = accepted(compile(checked(shop), accepted(parseTarget("rabbitmq@4.3", "native"))));
  const given = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, "/") as unknown as Given;
  const commands = (kept: readonly Kept[]): readonly string[] =>
    resourcesOf(kept)
      // Only a name with a quote needs quotes.
      .map(({ urn }) => `pulumi state delete ${urn.includes("'") ? `'${urn.replaceAll("'", String.raw`'\''`)}'` : urn}`)
      .toReversed();

  test("has to forget all of it, each resource before those that it needs", async () => {
    const kept = keptOf(given);
    const { forget, same, moves } = await adoptedFrom("--stack", stackOf(kept));
    expect([forget, same, moves]).toEqual([commands(kept), kept.length, []]);
  });

  test("has to forget a policy that differs, because the deployment writes it", async () => {
    const policies = given.policies?.map((each) => ({ ...each, priority: 7 })) ?? [];
    const kept = keptOf({ ...given, policies });
    const { forget, same } = await adoptedFrom("--stack", stackOf(kept));
    expect([forget, same]).toEqual([commands(kept), kept.length - policies.length]);
  });

  test("keeps what belongs to a consumer that moves to a new queue", async () => {
    const queues = given.queues.map((each) =>
      each.name === "shop.billing.dead" ? { ...each, arguments: { "x-queue-type": "classic" } } : each,
    );
    const kept = keptOf({ ...given, queues });
    const { forget, moves } = await adoptedFrom("--stack", stackOf(kept));
    expect(moves).toMatchObject([{ consumer: "billing", next: "shop.billing.2" }]);
    const own = kept.filter(([, id]) => !/shop\.billing(\.|@|\/)/.test(id));
    expect(forget).toEqual(commands(own));
    expect(own.length).toBeLessThan(kept.length - 3);
  });

  test("has two providers, and one of them is chosen with its own ids", async () => {
    const kept = keptOf(given);
    const by = (provider: string, all: readonly Kept[]) =>
      resourcesOf(all).map((each) => ({
        ...each,
        urn: `${each.urn}-${provider}`,
        provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${provider}::id`,
      }));
    const mail = { name: "mail", settings: { durable: true } };
    const resources = [...by("eu", kept), ...by("us", kept), ...by("us", [["queue", "mail@/", mail, {}]])];
    const state = JSON.stringify({ version: 3, deployment: { resources } });
    const undecided = await adoptedFrom("--stack", state, "--queue", "shop.billing");
    expect([undecided.code, undecided.diagnostics]).toMatchObject([
      1,
      [{ code: "RD315", value: ["eu: /", "us: /"], help: expect.stringContaining('--part "eu: /"') }],
    ]);
    const words = ["--queue", "shop.billing", "--queue", "shop.it's"];
    const { forget, same } = await adoptedFrom("--stack", state, "--part", "us: /", ...words);
    const wanted = commands(kept).map((command) => command.replace(/'?$/, "-us$&"));
    expect([forget, same]).toEqual([wanted, kept.length]);
    // One of them has that queue.
    const found = await adoptedFrom("--stack", state, "--queue", "mail");
    expect([found.code, found.moves]).toMatchObject([0, [{ queue: "mail" }]]);
    const split = await adoptedFrom("--stack", state, "--queue", "mail", "--part", "eu: /");
    expect(split.diagnostics?.map(({ code }) => code)).toEqual(["RD331"]);
  });

  test("is read whole, or nothing is adopted", async () => {
    const [first, ...others] = resourcesOf(keptOf(given));
    const broken = { ...first, outputs: { name: "orders", settings: { type: 7 } } };
    const said = await adoptedFrom(
      "--stack",
      JSON.stringify({ version: 3, deployment: { resources: [broken, ...others] } }),
    );
    expect([said.code, said.diagnostics?.map(({ code }) => code)]).toEqual([2, ["RD410"]]);
  });
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

  test("given as a stack is told where it belongs", () => {
    const answer = deploymentsInState(stateOf([]));
    expect(answer.ok ? [] : answer.diagnostics.map(({ help }) => help)).toEqual([
      expect.stringContaining("--terraform-state"),
    ]);
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
