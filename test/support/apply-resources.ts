import type { JsonObject, Management } from "./management.ts";
import type { RegisteredResource } from "./pulumi.ts";

/** Creates a resource of one type from its properties. */
export type Make = (properties: Properties) => Promise<void> | void;

/** Every program has a stack, and each of ours a component. */
const ofEveryProgram: Readonly<Record<string, Make>> = {
  "pulumi:pulumi:Stack": () => undefined,
  ...Object.fromEntries(
    ["index", "sqs", "servicebus"].map((each) => [`redeliver:${each}:RetryTopology`, takeComponent]),
  ),
};

function takeComponent(properties: Properties): void {
  properties.take("declaration", "object");
  properties.optionalText("owner");
  properties.take("target", "object");
}

/**
 * Creates registered resources as a provider of Pulumi would, one after the other in the order of registration. It is
 * strict, so that a test cannot pass by leaving a property out.
 *
 * @param makes by the type of resource
 * @param leftOutBecause the reason to create no resource of a type. Every other resource must be created
 * @returns the resources that were not created, and the reason: `<type> <logical name>: <reason>`
 * @throws Error if a type or a property is unknown, a value has the wrong kind, or a resource comes too early: before
 *   one that it depends on
 */
export async function applyInOrder(
  resources: readonly RegisteredResource[],
  makes: Readonly<Record<string, Make>>,
  leftOutBecause: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const applied = new Set<string>();
  const leftOut: string[] = [];
  for (const { type, name, urn, inputs, dependencies } of resources) {
    const missing = dependencies.find((each) => !applied.has(each));
    if (missing !== undefined) throw new Error(`${name} is registered before ${missing}, which it depends on`);
    const reason = leftOutBecause[type];
    if (reason === undefined) {
      const make = makes[type] ?? ofEveryProgram[type];
      if (make === undefined)
        throw new Error(`${name} is of the type ${type}, which nobody has taught this test to apply`);
      const properties = new Properties(`${name} (${type})`, inputs);
      await make(properties);
      properties.end();
    } else leftOut.push(`${type} ${name}: ${reason}`);
    applied.add(urn);
  }
  return leftOut;
}

/** Creates registered resources on a live broker as Pulumi's RabbitMQ provider would. */
export async function applyResources(management: Management, resources: readonly RegisteredResource[]): Promise<void> {
  await applyInOrder(resources, {
    "pulumi:providers:rabbitmq": takeProvider,
    "rabbitmq:index/exchange:Exchange": (properties) => applyExchange(management, properties),
    "rabbitmq:index/policy:Policy": (properties) => applyPolicy(management, properties),
    "rabbitmq:index/queue:Queue": (properties) => applyQueue(management, properties),
    "rabbitmq:index/binding:Binding": (properties) => applyBinding(management, properties),
  });
}

function takeProvider(properties: Properties): void {
  properties.take("endpoint", "string");
  properties.take("username", "string");
  properties.take("password", "object");
  if (properties.text("insecure") !== "false") throw new Error("the provider does not check certificates");
  for (const each of ["cacertFile", "clientcertFile", "clientkeyFile"]) properties.optionalText(each);
}

async function applyExchange(management: Management, properties: Properties): Promise<void> {
  const settings = properties.nested("settings");
  await management.declareExchange(properties.text("vhost"), properties.text("name"), {
    type: settings.text("type"),
    durable: settings.take("durable", "boolean"),
    auto_delete: settings.take("autoDelete", "boolean"),
    internal: false,
    arguments: settings.texts("arguments") ?? {},
  });
  settings.end();
}

async function applyPolicy(management: Management, properties: Properties): Promise<void> {
  const policy = properties.nested("policy");
  const definition = Object.entries(policy.texts("definition") ?? {}).map(([key, value]) => [
    key,
    asProviderSends(value),
  ]);
  await management.putPolicy(properties.text("vhost"), properties.text("name"), {
    pattern: policy.text("pattern"),
    "apply-to": policy.text("applyTo"),
    priority: policy.take("priority", "number"),
    definition: Object.fromEntries(definition) as JsonObject,
  });
  policy.end();
}

/**
 * The provider turns every text with a whole number into a number. Source: `putPolicy` in terraform-provider-rabbitmq.
 */
function asProviderSends(value: string): string | number {
  return /^[+-]?\d+$/.test(value) ? Number(value) : value;
}

async function applyQueue(management: Management, properties: Properties): Promise<void> {
  const settings = properties.nested("settings");
  await management.declareQueue(properties.text("vhost"), properties.text("name"), {
    durable: settings.take("durable", "boolean"),
    auto_delete: settings.take("autoDelete", "boolean"),
    arguments: JSON.parse(settings.text("argumentsJson")),
  });
  settings.end();
}

async function applyBinding(management: Management, properties: Properties): Promise<void> {
  const destinationType = properties.text("destinationType");
  if (destinationType !== "queue" && destinationType !== "exchange")
    throw new Error(`a binding leads to a ${destinationType}`);
  await management.bind(properties.text("vhost"), {
    source: properties.text("source"),
    destination: properties.text("destination"),
    destinationType,
    routingKey: properties.text("routingKey"),
    arguments: JSON.parse(properties.optionalText("argumentsJson") ?? "{}"),
  });
}

/** Properties that a caller takes one by one. Properties that remain are an error. */
export class Properties {
  readonly #owner: string;
  readonly #left: Map<string, unknown>;

  constructor(owner: string, values: Readonly<Record<string, unknown>>) {
    this.#owner = owner;
    this.#left = new Map(Object.entries(values));
  }

  take(key: string, kind: "string" | "boolean" | "number" | "object"): unknown {
    const value = this.#left.get(key);
    if (typeof value !== kind || value === null) throw new Error(`${this.#owner}: ${key} is no ${kind}`);
    this.#left.delete(key);
    return value;
  }

  has(key: string): boolean {
    return this.#left.has(key);
  }

  text(key: string): string {
    return this.take(key, "string") as string;
  }

  optionalText(key: string): string | undefined {
    return this.#left.has(key) ? this.text(key) : undefined;
  }

  nested(key: string): Properties {
    return new Properties(`${this.#owner}, ${key}`, this.take(key, "object") as Record<string, unknown>);
  }

  /** A table of texts, like the provider's maps; undefined if there is none. */
  texts(key: string): Readonly<Record<string, string>> | undefined {
    if (!this.#left.has(key)) return undefined;
    const values = this.take(key, "object") as Record<string, unknown>;
    for (const [each, value] of Object.entries(values)) {
      if (typeof value !== "string") throw new Error(`${this.#owner}: ${key}.${each} is no text`);
    }
    return values as Record<string, string>;
  }

  end(): void {
    if (this.#left.size > 0)
      throw new Error(`${this.#owner} has unknown properties: ${[...this.#left.keys()].join(", ")}`);
  }
}
