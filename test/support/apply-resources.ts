import type { JsonObject, Management } from "./management.ts";
import type { RegisteredResource } from "./pulumi.ts";

/**
 * Creates registered resources on a live broker as Pulumi's RabbitMQ provider would, one after the other in the order
 * of registration. It is strict, so that a test cannot pass by leaving a property out.
 *
 * @throws Error if a type or a property is unknown, a value has the wrong kind, or a resource comes too early: before
 *   one that it depends on
 */
export async function applyResources(management: Management, resources: readonly RegisteredResource[]): Promise<void> {
  const applied = new Set<string>();
  for (const resource of resources) {
    const missing = resource.dependencies.find((urn) => !applied.has(urn));
    if (missing !== undefined) throw new Error(`${resource.name} is registered before ${missing}, which it depends on`);
    await apply(management, resource);
    applied.add(resource.urn);
  }
}

async function apply(management: Management, { type, name, inputs }: RegisteredResource): Promise<void> {
  const properties = new Properties(`${name} (${type})`, inputs);
  switch (type) {
    case "pulumi:pulumi:Stack":
      break;
    case "redeliver:index:RetryTopology":
      properties.take("declaration", "object");
      properties.optionalText("owner");
      properties.take("target", "object");
      break;
    case "pulumi:providers:rabbitmq":
      properties.take("endpoint", "string");
      properties.take("username", "string");
      properties.take("password", "object");
      if (properties.text("insecure") !== "false") throw new Error(`${name} does not check certificates`);
      for (const each of ["cacertFile", "clientcertFile", "clientkeyFile"]) properties.optionalText(each);
      break;
    case "rabbitmq:index/exchange:Exchange":
      await applyExchange(management, properties);
      break;
    case "rabbitmq:index/policy:Policy":
      await applyPolicy(management, properties);
      break;
    case "rabbitmq:index/queue:Queue":
      await applyQueue(management, properties);
      break;
    case "rabbitmq:index/binding:Binding":
      await applyBinding(management, properties);
      break;
    default:
      throw new Error(`${name} is of the type ${type}, which nobody has taught this test to apply`);
  }
  properties.end();
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
