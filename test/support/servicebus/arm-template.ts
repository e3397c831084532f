import { brokers, type CompiledSystem } from "../../../src/index.ts";

/** An entity by its kind and its names below the namespace. */
export type ArmEntity = readonly [
  kind: "queues" | "topics" | "subscriptions" | "rules",
  path: string,
  properties?: Readonly<Record<string, unknown>>,
];

const types = {
  queues: "queues",
  topics: "topics",
  subscriptions: "topics/subscriptions",
  rules: "topics/subscriptions/rules",
} as const;

/** An export of a resource group with one namespace. */
export function armTemplate(entities: readonly ArmEntity[], sku = "Standard"): string {
  const namespace = { type: "Microsoft.ServiceBus/namespaces", name: "shop", sku: { name: sku }, properties: {} };
  const resources = entities.map(([kind, path, properties = {}]) => {
    return { type: `Microsoft.ServiceBus/namespaces/${types[kind]}`, name: `shop/${path}`, properties };
  });
  return JSON.stringify({ resources: [namespace, ...resources] });
}

/** The export of a compiled system after its deployment. */
export function armTemplateOf(compiled: CompiledSystem<"servicebus">): string {
  const [namespace] = brokers.servicebus.differ.deploymentOf(compiled).namespaces;
  const [, sku] = compiled.target.split("@");
  return armTemplate(
    namespace?.resources.map(({ kind, names, properties }) => [
      `${kind}s` as ArmEntity[0],
      names.join("/"),
      properties,
    ]) ?? [],
    sku,
  );
}
