import type { ServiceBusAdministrationClient } from "@azure/service-bus";

import { type Checked, accepted, refusedFor } from "../../../diagnostics/diagnostic.ts";
import { connectionProblem } from "../../../foreign/connection-problem.ts";
import { type RequestBounds, defaultBounds } from "../../../foreign/request-budget.ts";
import { missingPackages } from "../../../node/missing-packages.ts";
import { servicebusConnection } from "./connection.ts";

/** An entity of a namespace with ARM's names of properties. */
interface Resource {
  readonly kind: "queue" | "topic" | "subscription" | "rule";
  readonly namespace: string;
  readonly names: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

const help = "set SERVICEBUS_CONNECTION_STRING to a connection string of that namespace, of a key with Manage";

/** The environment keeps the key out of the list of processes. */
const connectionString = (): string => process.env["SERVICEBUS_CONNECTION_STRING"] ?? "";

/**
 * Reads a namespace by its management API.
 *
 * @param host of the namespace, such as `shop.servicebus.windows.net`. It guards against the key of another one
 * @param read makes requests that only read
 */
export async function readNamespace<Found>(
  host: string,
  read: (administration: ServiceBusAdministrationClient, abortSignal: AbortSignal, host: string) => Promise<Found>,
  { timeoutMs = defaultBounds.timeoutMs }: Partial<RequestBounds>,
): Promise<Checked<Found>> {
  const refused = (code: "RD407" | "RD408", message: string, notes: readonly string[] = []): Checked<never> =>
    refusedFor(code, { path: "url", message, notes, help });
  const parsed = servicebusConnection.safeParse({ connectionString: connectionString() });
  if (!parsed.success) return refused("RD408", "there is no connection string of Service Bus");
  try {
    const { createAdministration, hostOf } = await import("./client.ts");
    if (hostOf(parsed.data) !== host)
      return refused("RD407", `the connection string is of another namespace than ${JSON.stringify(host)}`);
    return accepted(await read(createAdministration(parsed.data), AbortSignal.timeout(timeoutMs), host));
  } catch (error) {
    if (missingPackages(["@azure/service-bus"]).length > 0)
      return refused("RD407", "the package @azure/service-bus is not installed", ["npm install @azure/service-bus"]);
    const { statusCode } = error as { statusCode?: unknown };
    return statusCode === 401 || statusCode === 403
      ? refused("RD408", `Service Bus at ${host} refuses the key (${statusCode})`)
      : refused("RD407", `Service Bus at ${host} cannot be read: ${connectionProblem(error)}`);
  }
}

export async function listNamespace(
  administration: ServiceBusAdministrationClient,
  abortSignal: AbortSignal,
  host: string,
): Promise<readonly Resource[]> {
  const namespace = host.split(".")[0] ?? host;
  const resources: Resource[] = [];
  const add = (kind: Resource["kind"], names: readonly string[], { ...properties }: object): void =>
    void resources.push({ kind, namespace, names, properties });
  for await (const queue of administration.listQueues({ abortSignal })) add("queue", [queue.name], queue);
  for await (const topic of administration.listTopics({ abortSignal })) {
    add("topic", [topic.name], topic);
    for await (const subscription of administration.listSubscriptions(topic.name, { abortSignal })) {
      const names = [topic.name, subscription.subscriptionName];
      add("subscription", names, subscription);
      for await (const { name, filter, action } of administration.listRules(topic.name, names[1] ?? "", {
        abortSignal,
      }))
        add("rule", [...names, name], { ...ruleOf(filter), action });
    }
  }
  return resources;
}

/** ARM calls the subject of a message its label. */
function ruleOf(filter: object): object {
  if ("sqlExpression" in filter && filter.sqlExpression !== undefined)
    return { filterType: "SqlFilter", sqlFilter: filter };
  const { subject: label, applicationProperties: properties, ...rest } = filter as Readonly<Record<string, unknown>>;
  return { filterType: "CorrelationFilter", correlationFilter: { ...rest, label, properties } };
}
