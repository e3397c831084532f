import type { DefinitionsExample, ExamplePair, StateExample } from "../example.ts";

/** An example's own lines. The others are the same in all examples. */
export interface DefinitionsLines {
  readonly version?: string;
  readonly exchanges?: readonly object[];
  readonly queues?: readonly object[];
  readonly bindings?: readonly object[];
  readonly policies?: readonly object[];
}

const orders = Object.freeze({
  name: "orders",
  vhost: "/",
  durable: true,
  auto_delete: false,
  arguments: {
    "x-queue-type": "quorum",
    "x-dead-letter-exchange": "",
    "x-dead-letter-routing-key": "orders.dead",
  },
});
const dead = Object.freeze({
  name: "orders.dead",
  vhost: "/",
  durable: true,
  auto_delete: false,
  arguments: { "x-queue-type": "quorum", "x-delivery-limit": -1 },
});

/** The text of a definitions file, one entry on each line. */
function definitionsText({
  version = "4.3.1",
  exchanges = [],
  queues = [orders, dead],
  bindings = [],
  policies,
}: DefinitionsLines): string {
  const list = (name: string, entries: readonly object[]): string =>
    entries.length === 0
      ? `  "${name}": []`
      : `  "${name}": [\n${entries.map((each) => `    ${JSON.stringify(each)}`).join(",\n")}\n  ]`;
  const lines = [
    `  "rabbitmq_version": "${version}"`,
    list("vhosts", [{ name: "/" }]),
    list("exchanges", exchanges),
    list("queues", queues),
    list("bindings", bindings),
    ...(policies === undefined ? [] : [list("policies", policies)]),
  ];
  return `{\n${lines.join(",\n")}\n}\n`;
}

export function definitions(lines: DefinitionsLines): DefinitionsExample {
  return { kind: "definitions", text: definitionsText(lines) };
}

function exchange(type: string): object {
  return { name: "shards", vhost: "/", type, durable: true, auto_delete: false, arguments: {} };
}

function bindingTo(destination: string): object {
  return {
    source: "amq.topic",
    vhost: "/",
    destination,
    destination_type: "queue",
    routing_key: "order.#",
    arguments: {},
  };
}

/** The state of a stack with one queue. */
function state(name: unknown): StateExample {
  const resource = {
    urn: "urn:pulumi:prod::shop::rabbitmq:index/queue:Queue::orders",
    custom: true,
    type: "rabbitmq:index/queue:Queue",
    outputs: { name, vhost: "/", settings: { durable: true, argumentsJson: '{"x-queue-type":"stream"}' } },
  };
  const text = JSON.stringify({ version: 3, deployment: { resources: [resource] } }, null, 2);
  return { kind: "state", text: `${text}\n`, target: "rabbitmq@4.3" };
}

const secretName = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "v1:bm9uY2U=",
};
const url = "http://auditor@localhost:15672";

/** RD4xx: topologies that others made. */
export const readExamples = {
  RD401: {
    fires: { kind: "definitions", text: '{ "name": "shop", "version": "1.0.0" }\n', target: "rabbitmq@4.3" },
    quiet: definitions({}),
  },
  RD402: {
    fires: definitions({ queues: [{ vhost: "/", durable: true, arguments: {} }] }),
    quiet: definitions({}),
  },
  RD403: { fires: definitions({ version: "9.1.0" }), quiet: definitions({ version: "4.3.6" }) },
  RD404: { fires: definitions({ queues: [orders, orders, dead] }), quiet: definitions({}) },
  RD405: {
    fires: definitions({ bindings: [bindingTo("amq.gen-JzTY20BRgKO")] }),
    quiet: definitions({ bindings: [bindingTo("orders")] }),
  },
  RD406: {
    fires: definitions({ exchanges: [exchange("x-consistent-hash")] }),
    quiet: definitions({ exchanges: [exchange("direct")] }),
  },
  RD407: {
    fires: { kind: "broker", url, answers: "nothing" },
    quiet: { kind: "broker", url, answers: "empty broker" },
  },
  RD408: {
    fires: { kind: "broker", url, answers: "refusal" },
    quiet: { kind: "broker", url, answers: "empty broker" },
  },
  RD409: { fires: { ...state(secretName), allowUnread: true }, quiet: state("orders") },
  RD410: { fires: state(secretName), quiet: state("orders") },
} as const satisfies Readonly<Record<string, ExamplePair>>;
