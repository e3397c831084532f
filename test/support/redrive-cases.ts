/** Every strategy of every broker, with a consumer that it can serve. */
export interface RedriveCase {
  readonly title: string;
  readonly target: object;
  readonly consumer: {
    readonly protocol?: string;
    readonly order?: string;
    readonly retry: { readonly attempts: number; readonly backoff: object };
  };
}

const consumer = {
  from: { orders: ["order.placed"] },
  retry: { attempts: 3, backoff: { kind: "constant", delay: "20s" } },
  handlerTimeout: "10s",
};
const atOnce = { ...consumer, retry: { attempts: 3, backoff: { kind: "immediate" } } };

const rabbitmq = (version: string, strategy: string, more = "", options: object = {}): RedriveCase => ({
  title: `rabbitmq ${version} ${strategy}${more}`,
  target: { broker: "rabbitmq", version, strategy, ...options },
  consumer: strategy === "deferred" ? { ...consumer, protocol: "amqp-1.0" } : consumer,
});
const sqs = (title: string, strategy: string, more: RedriveCase["consumer"] = consumer, options = {}): RedriveCase => ({
  title: `sqs ${title}`,
  target: { broker: "sqs", region: "eu-west-1", strategy, ...options },
  consumer: more,
});
const servicebus = (title: string, more: object, options: object = {}): RedriveCase => ({
  title: `servicebus ${title}`,
  target: { broker: "servicebus", sku: "standard", ...options },
  consumer: { ...consumer, ...more },
});

export const redriveCases: readonly RedriveCase[] = [
  rabbitmq("4.3", "native"),
  rabbitmq("4.3", "deferred"),
  rabbitmq("4.3", "staged"),
  rabbitmq("4.3", "waits"),
  rabbitmq("4.0", "staged"),
  rabbitmq("4.0", "waits"),
  rabbitmq("3.13", "staged"),
  rabbitmq("3.10", "waits"),
  rabbitmq("4.3", "staged", " with a shared dead queue", { deadQueue: "shared" }),
  sqs("redrive", "redrive"),
  sqs("visibility", "visibility"),
  sqs("redrive with a shared dead queue", "redrive", consumer, { deadQueue: "shared" }),
  sqs("FIFO", "auto", { ...atOnce, order: "per-key" }),
  servicebus("immediate", atOnce, { strategy: "immediate" }),
  servicebus("scheduled", {}, { strategy: "scheduled" }),
  servicebus("scheduled with duplicate detection", { crash: { deliveries: 2 } }, { duplicates: "10m" }),
  servicebus("scheduled with a shared dead queue", {}, { deadQueue: "shared" }),
];
