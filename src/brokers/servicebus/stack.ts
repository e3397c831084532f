import { type StackKeys, option, text } from "../stack-keys.ts";

const namespaceIdPattern =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.ServiceBus\/namespaces\/[^/?#]+$/i;

/**
 * The configuration of a stack that deploys to Service Bus. The provider has the subscription and the credentials. The
 * namespace must exist, and its tier must be the target's.
 */
export const stack = Object.freeze({
  component: "ServicebusRetryTopology from redeliver/pulumi/servicebus",
  hasPassword: false,
  target: {
    sku: text,
    strategy: text.optional(),
    strategies: option,
    lock: option,
    duplicates: option,
    deadQueue: option,
  },
  others: {
    /** The Azure resource id of the namespace. */
    namespaceId: text.regex(namespaceIdPattern),
  },
  howTo: {
    target: "write target as a mapping, for example { broker: servicebus, sku: standard }",
    "target.sku": "write a tier of Service Bus: basic, standard or premium",
    namespaceId:
      "write the resource id of a namespace: /subscriptions/…/resourceGroups/…/providers/Microsoft.ServiceBus/namespaces/…",
  },
  problemOf: (path: string) =>
    path === "namespaceId" ? "namespaceId is not a resource id of a Service Bus namespace" : null,
} satisfies StackKeys);
