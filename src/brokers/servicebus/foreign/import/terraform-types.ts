import { type Entry, isEntry } from "../../../../foreign/entries.ts";
import type { BridgedType } from "../../../../foreign/terraform-state.ts";
import { defaultRuleName } from "../../compile/names.ts";
import { jsonIn } from "../../../../foreign/parse-json.ts";

const tokenOf = (kind: string): string => `azure-native:servicebus:${kind}`;
const typesOf = (kind: string, name = kind) => ({
  type: tokenOf(kind),
  bridgedType: `azure:servicebus/${name.charAt(0).toLowerCase()}${name.slice(1)}:${name}`,
});

/** The types of ARM, in lower case, with the last part of the type in @pulumi/azure-native. */
const armTypes: Readonly<Record<string, string>> = {
  "microsoft.servicebus/namespaces": "Namespace",
  "microsoft.servicebus/namespaces/queues": "Queue",
  "microsoft.servicebus/namespaces/topics": "Topic",
  "microsoft.servicebus/namespaces/topics/subscriptions": "Subscription",
  "microsoft.servicebus/namespaces/topics/subscriptions/rules": "Rule",
};

/** Both spellings: up to version 3 of the provider and since version 4. */
const renamed = {
  defaultMessageTtl: "defaultMessageTimeToLive",
  deadLetteringOnFilterEvaluationError: "deadLetteringOnFilterEvaluationExceptions",
  partitioningEnabled: "enablePartitioning",
};

const azapi: BridgedType = { type: "", finish: fromArm };

/**
 * Their attributes under the names of @pulumi/azure-native. Other resources of azapi are none of Service Bus. The
 * classic provider of Pulumi, @pulumi/azure, is bridged from azurerm.
 *
 * Source: `internal/services/servicebus/servicebus_*_resource.go` of azurerm 2 to 4, `sdk/nodejs/servicebus` of
 * pulumi-azure, and the schemas of `azapi_resource` and `azapi_update_resource` of azapi 1 and 2.
 */
export const terraformTypes: Readonly<Record<string, BridgedType>> = Object.freeze({
  // The rest of a namespace is keys and networks.
  azurerm_servicebus_namespace: {
    ...typesOf("Namespace"),
    finish: ({ type, properties: { id, name, sku } }) => ({ type, properties: { id, name, sku: { name: sku } } }),
  },
  azurerm_servicebus_queue: { ...typesOf("Queue"), renamed, finish: withoutEmpty },
  azurerm_servicebus_topic: { ...typesOf("Topic"), renamed, finish: withoutEmpty },
  azurerm_servicebus_subscription: { ...typesOf("Subscription"), renamed, finish: withoutEmpty },
  azurerm_servicebus_subscription_rule: {
    ...typesOf("Rule", "SubscriptionRule"),
    singleBlocks: ["correlation_filter"],
    finish: (resource) => {
      const { type, properties } = withoutEmpty(resource);
      const { sqlFilter, action, correlationFilter, ...rest } = properties;
      return {
        type,
        properties: {
          ...rest,
          ...(sqlFilter === undefined ? {} : { sqlFilter: { sqlExpression: sqlFilter } }),
          ...(action === undefined ? {} : { action: { sqlExpression: action } }),
          ...(isEntry(correlationFilter) ? { correlationFilter: filled(correlationFilter) } : {}),
        },
      };
    },
  },
  azapi_resource: azapi,
  azapi_update_resource: azapi,
});

/** The provider writes an empty text for an attribute that is not set. */
function filled(properties: Entry): Entry {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== ""));
}

function withoutEmpty({ type, properties }: { readonly type: string; readonly properties: Entry }) {
  return { type, properties: filled(properties) };
}

/** A resource of azapi is one of ARM: its id has its names, and its body its properties. */
function fromArm({ properties: { type: typeAndVersion, id, name, body } }: { readonly properties: Entry }) {
  const [armType = ""] = String(typeAndVersion).toLowerCase().split("@");
  const kind = armTypes[armType];
  if (kind === undefined) return null;
  const { properties, sku } = contentOf(body);
  if (kind === "Namespace") return { type: tokenOf(kind), properties: { id, name, sku } };
  const isDefault = String(id).endsWith(`/rules/${defaultRuleName}`);
  return {
    type: tokenOf(isDefault ? "DefaultRule" : kind),
    properties: { ...(isEntry(properties) ? properties : {}), id },
  };
}

/** A state has the type beside a value of any type. Version 1 took the body as JSON. */
function contentOf(body: unknown): Entry {
  const value = isEntry(body) && "value" in body ? body["value"] : body;
  const content = typeof value === "string" ? jsonIn(value) : value;
  return isEntry(content) ? content : {};
}
