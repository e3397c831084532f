import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

import { queue, redriveTo } from "../sqs-listing.ts";

const root = resolve(import.meta.dirname, "../../..");
const example = (file: string): unknown => parse(readFileSync(resolve(root, "examples", file), "utf8")) as unknown;
const urn = (type: string, name: string): string => `urn:pulumi:prod::shop::${type}::${name}`;

const queueSettings = {
  durable: true,
  argumentsJson: JSON.stringify({ "x-queue-type": "quorum", "x-dead-letter-exchange": "", "x-message-ttl": 5_000 }),
};
const resources = [
  ["rabbitmq:index/exchange:Exchange", { name: "orders", vhost: "/", settings: { type: "topic", durable: true } }],
  ["rabbitmq:index/queue:Queue", { name: "billing", vhost: "/", settings: queueSettings }],
  [
    "rabbitmq:index/binding:Binding",
    { source: "orders", destination: "billing", destinationType: "queue", routingKey: "#", vhost: "/" },
  ],
  [
    "rabbitmq:index/policy:Policy",
    { name: "p", vhost: "/", policy: { pattern: "^billing", applyTo: "queues", definition: { "delivery-limit": 3 } } },
  ],
  [
    "aws:sqs/queue:Queue",
    {
      arn: "arn:aws:sqs:eu-west-1:123456789012:billing",
      url: "https://sqs.eu-west-1.amazonaws.com/123456789012/billing",
      name: "billing",
      visibilityTimeoutSeconds: 30,
      redrivePolicy: JSON.stringify({
        deadLetterTargetArn: "arn:aws:sqs:eu-west-1:123456789012:d",
        maxReceiveCount: 3,
      }),
    },
  ],
  ["azure-native:servicebus:Namespace", { namespaceName: "shop", sku: { name: "Standard" } }],
  [
    "azure-native:servicebus:Queue",
    { namespaceName: "shop", queueName: "billing", maxDeliveryCount: 3, lockDuration: "PT1M" },
  ],
] as const;

const arm = {
  $schema: "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
  parameters: { namespace: { type: "String", defaultValue: "shop" } },
  variables: { queue: "[concat(parameters('namespace'), '/billing')]" },
  resources: [
    { type: "Microsoft.ServiceBus/namespaces", name: "[parameters('namespace')]", sku: { name: "Standard" } },
    {
      type: "Microsoft.ServiceBus/namespaces/queues",
      name: "[variables('queue')]",
      properties: { maxDeliveryCount: 3, lockDuration: "PT1M", forwardTo: "dead" },
    },
    {
      type: "Microsoft.ServiceBus/namespaces/topics",
      name: "shop/orders",
      properties: {},
      resources: [{ type: "subscriptions", name: "billing", properties: { forwardTo: "billing" } }],
    },
  ],
};

const listing = [
  queue("billing", { VisibilityTimeout: 30, ...redriveTo("billing-dead", 3) }),
  queue("billing-dead", { MessageRetentionPeriod: 1_209_600 }),
  { EventSourceMappings: [] },
];

/** No example has a lambda. It is here so that mutations reach the options of targets too. */
const targets = [
  { broker: "rabbitmq", version: "4.3", strategy: "staged" },
  { broker: "sqs", region: "eu-west-1", lambda: { billing: { batchSize: 10, batchWindow: "1s" } } },
  { broker: "servicebus", sku: "standard", lock: "1m", duplicates: "10m", deadQueue: "own" },
];

/** Each input that the command line reads from a file: valid contents, and the words that read it. */
export const fileInputs: readonly {
  readonly name: string;
  readonly extensions: readonly string[];
  readonly valid: readonly unknown[];
  readonly words: readonly (readonly string[])[];
}[] = [
  {
    name: "declaration",
    extensions: ["json", "yaml"],
    valid: [example("shop.yaml"), example("portable.yaml")],
    words: [
      ["plan", "FILE"],
      ["check", "FILE", "-t", "rabbitmq@4.3"],
      ["check", "FILE", "-t", "rabbitmq@3.10", "--format", "sarif"],
      ["check", "FILE", "-t", "sqs@eu-west-1", "--format", "github"],
      ["compile", "FILE", "-t", "servicebus@standard", "--json"],
      ["contract", "FILE", "billing", "-t", "rabbitmq@4.3"],
      ["graph", "FILE", "-t", "rabbitmq@4.0"],
    ],
  },
  {
    name: "target",
    extensions: ["json", "yaml"],
    valid: targets,
    words: [
      ["compile", "examples/portable.yaml", "-t", "FILE"],
      ["check", "examples/portable.yaml", "-t", "FILE", "--json"],
    ],
  },
  {
    name: "scenario",
    extensions: ["json", "yaml"],
    valid: [example("outage.yaml"), { duration: "1m", consumers: { billing: { arrivals: { perSecond: 1 } } } }],
    words: [["simulate", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--scenario", "FILE"]],
  },
  {
    name: "definitions",
    extensions: ["json"],
    valid: [example("hand-written.json")],
    words: [
      ["audit", "--definitions", "FILE"],
      ["audit", "--definitions", "FILE", "--as-version", "4.3", "--json"],
      ["leftovers", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--definitions", "FILE"],
      ["diff", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--definitions", "FILE", "--format", "markdown"],
    ],
  },
  {
    name: "listing",
    extensions: ["json"],
    valid: [listing],
    words: [
      ["audit", "--sqs", "FILE", "-t", "sqs@eu-west-1"],
      ["audit", "--sqs", "FILE", "--format", "sarif"],
    ],
  },
  { name: "template", extensions: ["json"], valid: [arm], words: [["audit", "--servicebus", "FILE"]] },
  {
    name: "stack",
    extensions: ["json"],
    valid: [
      {
        version: 3,
        deployment: {
          resources: resources.map(([type, inputs]) => ({ type, urn: urn(type, "a"), inputs, outputs: inputs })),
        },
      },
    ],
    words: [["audit", "--stack", "FILE", "-t", "rabbitmq@4.3"]],
  },
  {
    name: "preview",
    extensions: ["json"],
    valid: [
      {
        steps: resources.map(([type, inputs], index) => ({
          op: index % 2 === 0 ? "create" : "update",
          urn: urn(type, `r${index}`),
          newState: { type, urn: urn(type, `r${index}`), inputs, outputs: inputs },
          oldState: { type, urn: urn(type, `r${index}`), inputs, outputs: inputs },
          detailedDiff: null,
        })),
        changeSummary: { create: 4, update: 3 },
      },
    ],
    words: [
      ["policy", "--preview", "FILE"],
      ["policy", "--preview", "FILE", "--format", "sarif"],
    ],
  },
  {
    name: "policy options",
    extensions: ["yaml", "json"],
    valid: [
      {
        preset: "strict",
        include: ["shop*"],
        targets: ["rabbitmq@4.0"],
        rules: { "retry-attempts-limit": { max: 8 }, "retry-jitter": "disabled" },
      },
    ],
    words: [["policy", "--preview", "VALID", "--config", "FILE"]],
  },
];

/** Command lines that end by themselves and use no network. */
export const words: readonly (readonly string[])[] = [
  ["plan", "examples/shop.yaml"],
  ["check", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--format", "sarif"],
  ["compile", "examples/portable.yaml", "-t", "sqs@eu-west-1", "--strategy", "visibility", "--json"],
  ["contract", "examples/shop.yaml", "billing", "-t", "rabbitmq@4.3", "--markdown"],
  ["graph", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--format", "dot"],
  ["simulate", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--scenario", "examples/outage.yaml", "--seed", "7"],
  ["explain", "RD101", "--json"],
  ["audit", "--definitions", "examples/hand-written.json", "--as-version", "4.3"],
  ["leftovers", "examples/shop.yaml", "-t", "rabbitmq@4.3", "--definitions", "examples/hand-written.json"],
  ["diff", "examples/events.yaml", "examples/events-next.yaml", "-t", "rabbitmq@4.3"],
  ["policy", "--preview", "examples/hand-written.json", "--stack-tag", "a=b"],
];

const throwing = (what: string): string => `throw ${what};\n`;

/** Modules without a declaration, or with an invalid one. */
export const modules: readonly (readonly [name: string, text: string])[] = [
  ["throws null", throwing("null")],
  ["throws undefined", throwing("undefined")],
  ["throws a text", throwing('"no"')],
  ["throws a symbol", throwing('Symbol("no")')],
  ["throws an object without a prototype", throwing("Object.create(null)")],
  ["throws a Proxy", throwing("new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } })")],
  ["throws a Proxy of an Error", throwing("new Proxy(new Error('x'), { get() { throw Object.create(null); } })")],
  ["throws an Error without a message", throwing("Object.assign(new Error(), { message: undefined, name: null })")],
  ["throws an Error with a wrong message", throwing("Object.assign(new Error(), { message: { split: 1 } })")],
  ["throws a false refusal", throwing("Object.assign(new Error(), { name: 'RefusedError', diagnostics: null })")],
  [
    "throws a refusal of nothing",
    throwing("Object.assign(new Error(), { name: 'RefusedError', diagnostics: [null, 1, {}, { code: 'RD999' }] })"),
  ],
  ["throws a long message", throwing("new Error('x'.repeat(10_000_000))")],
  ["rejects", "await Promise.reject(null);\n"],
  ["has a getter that throws", "export default { get name() { throw null; } };\n"],
  ["has a ring", "const a = { name: 'a', sources: {} }; a.consumers = a; export default a;\n"],
  ["is a function", "export default () => 1;\n"],
  ["is a Promise", "export default Promise.resolve({});\n"],
  ["is a Promise that never ends", "export default new Promise(() => {});\n"],
  ["is a BigInt", "export default 1n;\n"],
  ["is null", "export default null;\n"],
  ["is a Proxy", "export default new Proxy({}, { ownKeys() { throw 1; }, get() { throw 1; } });\n"],
  ["defines a wrong system", 'import { defineSystem } from "redeliver"; export default defineSystem({ name: 1n });\n'],
  ["has a sparse list", "export default { name: 'a', sources: {}, consumers: new Array(4294967295) };\n"],
  ["has a long name", "export default { name: 'x'.repeat(10_000_000), sources: {}, consumers: {} };\n"],
  ["exports a then", "export function then() { throw null; }\n"],
];

/** Options for a consumer in the right form, with names of nothing that exists. */
export const options: readonly unknown[] = [
  {
    target: { broker: "rabbitmq", version: "4.3" },
    connection: { url: "amqp://127.0.0.1:1" },
    concurrency: 5,
    body: "json",
    breaker: { failures: 3, firstPause: "1s", longestPause: "10s" },
    stopWithin: "10s",
    service: { service: "billing", version: "1" },
  },
];
