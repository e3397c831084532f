import type { AdoptExample } from "../example.ts";

type Arguments = Readonly<Record<string, string | number>>;

const queue = (name: string, given: Arguments = {}): object => {
  return { name, vhost: "/", durable: true, auto_delete: false, arguments: { "x-queue-type": "quorum", ...given } };
};

/** A queue that sends its dead letters to another one by its name. */
const work = (name: string, dead: string): object =>
  queue(name, { "x-delivery-limit": 4, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead });

function exported(
  queues: readonly object[],
  chosen?: readonly string[],
  policies: readonly object[] = [],
): AdoptExample {
  const text = {
    rabbitmq_version: "4.3.6",
    vhosts: [{ name: "/" }],
    exchanges: [],
    queues,
    bindings: [],
    ...(policies.length === 0 ? {} : { policies }),
  };
  return {
    kind: "adopt",
    text: `${JSON.stringify(text, null, 2)}\n`,
    ...(chosen === undefined ? {} : { queues: chosen }),
  };
}

/** A work queue of the system `mail`, as Redeliver declares it. */
const managed = queue("mail.letters", {
  "x-overflow": "reject-publish",
  "x-dead-letter-exchange": "mail.dead",
  "x-dead-letter-routing-key": "mail.letters",
  "x-dead-letter-strategy": "at-least-once",
});
const policy = {
  name: "mail.letters",
  vhost: "/",
  pattern: "^mail\\.letters$",
  "apply-to": "queues",
  priority: 1_000,
  definition: { overflow: "reject-publish", "delivery-limit": 2, "delayed-retry-type": "disabled" },
};
const orders = [work("orders", "orders.dlq"), queue("orders.dlq")];

/** Its policy says where its dead letters go, and a deployment writes a policy of the same name. */
const byPolicy = {
  ...policy,
  name: "orders",
  pattern: "^orders$",
  definition: { "delivery-limit": 4, "dead-letter-exchange": "", "dead-letter-routing-key": "orders.dlq" },
};

/** RD331 to RD334: topologies that somebody wants to adopt. */
export const adoptExamples = {
  RD331: { fires: exported([queue("orders.dlq")]), quiet: exported(orders) },
  RD332: {
    fires: exported([...orders, managed], undefined, [policy]),
    quiet: exported([...orders, managed], ["orders"], [policy]),
  },
  RD333: {
    fires: exported([work("orders", "dlq"), work("mail", "dlq"), queue("dlq", { "x-max-length": 10_000 })]),
    quiet: exported([work("orders", "orders.dlq"), work("mail", "mail.dlq"), queue("orders.dlq"), queue("mail.dlq")]),
  },
  RD334: {
    fires: exported([queue("orders", { "x-max-length": 10_000 }), queue("orders.dlq")], undefined, [byPolicy]),
    quiet: exported(orders),
  },
} as const;
