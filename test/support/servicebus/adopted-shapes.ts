import { type ArmEntity, armTemplate } from "./arm-template.ts";

/** Entities of Service Bus that Redeliver did not make, and the declaration that they amount to. */
export interface AdoptedShape {
  readonly entities: readonly ArmEntity[];
  /** By place: attempts, the source with its keys, and the work queue of the compiled consumer. */
  readonly consumers: Readonly<Record<string, readonly [number, Readonly<Record<string, unknown>> | null, string]>>;
  /** The settings of the target. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The facts that the declaration cannot say. */
  readonly unsaid: readonly RegExp[];
  /** Queues that nobody receives from, because others forward to them or look at them. */
  readonly left?: readonly string[];
}

const all = { filterType: "SqlFilter", sqlFilter: { sqlExpression: "1=1" } };
const label = (text: string) => ({ filterType: "CorrelationFilter", correlationFilter: { label: text } });
/** Of NServiceBus, for one type of event. */
const typed = {
  filterType: "SqlFilter",
  sqlFilter: { sqlExpression: "[NServiceBus.EnclosedMessageTypes] LIKE '%Contracts.OrderPlaced%'" },
};

export const adoptedShapes: Readonly<Record<string, AdoptedShape>> = {
  "a queue, written by hand": {
    entities: [["queues", "orders", { maxDeliveryCount: 4, lockDuration: "PT30S" }]],
    consumers: { orders: [4, null, "orders"] },
    options: { lock: "30s" },
    unsaid: [/scheduled copies, show in no queue/, /drops expired messages today/],
  },
  "a topic with a subscription that consumers receive from": {
    entities: [
      ["topics", "events"],
      ["subscriptions", "events/billing", { maxDeliveryCount: 3 }],
      ["rules", "events/billing/$Default", all],
    ],
    consumers: { "events/Subscriptions/billing": [3, { events: "all" }, "shop.billing"] },
    options: {},
    unsaid: [/a compiled one forwards to a queue/, /^events: nothing shows who makes it/],
  },
  "a topic that forwards to a queue by labels": {
    entities: [
      ["topics", "events"],
      ["queues", "billing", { maxDeliveryCount: 2 }],
      ["subscriptions", "events/billing", { forwardTo: "billing" }],
      ["rules", "events/billing/placed", label("order.placed")],
    ],
    consumers: { billing: [2, { events: ["order.placed"] }, "billing"] },
    options: {},
    unsaid: [],
  },
  // In ARM a slash in a name is a tilde. Source: MassTransit.Azure.ServiceBus.Core, `ServiceBusMessageNameFormatter`.
  MassTransit: {
    entities: [
      ["topics", "contracts~orderplaced"],
      ["queues", "billing", { maxDeliveryCount: 5, lockDuration: "PT5M" }],
      ["queues", "billing_error"],
      ["queues", "billing_skipped"],
      ["subscriptions", "contracts~orderplaced/billing", { forwardTo: "billing" }],
      ["rules", "contracts~orderplaced/billing/$Default", all],
    ],
    consumers: { billing: [5, null, "billing"] },
    options: { lock: "5m" },
    unsaid: [/subscription billing stays as it is, .*no topic of this name/],
    left: ["billing_error", "billing_skipped"],
  },
  // Source: NServiceBus.Transport.AzureServiceBus, `MigrationTopology`, and `QueueCreator`.
  NServiceBus: {
    entities: [
      ["topics", "bundle-1"],
      ["queues", "Billing", { maxDeliveryCount: 2_147_483_647, lockDuration: "PT5M" }],
      ["queues", "error", { maxDeliveryCount: 2_147_483_647, lockDuration: "PT5M" }],
      ["queues", "audit", { maxDeliveryCount: 2_147_483_647, lockDuration: "PT5M" }],
      ["subscriptions", "bundle-1/Billing", { forwardTo: "Billing", maxDeliveryCount: 10 }],
      ["rules", "bundle-1/Billing/Contracts.OrderPlaced", typed],
    ],
    consumers: { Billing: [5, null, "Billing"] },
    options: { lock: "5m" },
    unsaid: [
      /MaxDeliveryCount is 2147483647, .* are a guess/,
      /^bundle-1: .* stays as it is.* no routing key describes/,
    ],
    left: ["error", "audit"],
  },
  "a queue with sessions": {
    entities: [["queues", "payments", { requiresSession: true, maxDeliveryCount: 3 }]],
    consumers: { payments: [3, null, "payments"] },
    options: {},
    unsaid: [],
  },
  "a queue with duplicate detection": {
    entities: [
      [
        "queues",
        "invoices",
        { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT10M", maxDeliveryCount: 3 },
      ],
    ],
    consumers: { invoices: [3, null, "invoices"] },
    options: { duplicates: "10m" },
    unsaid: [],
  },
  "a subscription with a name of its own": {
    entities: [
      ["topics", "users"],
      [
        "queues",
        "mail",
        { maxDeliveryCount: 3, defaultMessageTimeToLive: "P7D", deadLetteringOnMessageExpiration: true },
      ],
      ["subscriptions", "users/to-mail", { forwardTo: "mail" }],
      ["rules", "users/to-mail/$Default", all],
    ],
    consumers: { mail: [3, null, "mail"] },
    options: {},
    unsaid: [/^users: the subscription to-mail stays .*would be named mail/, /DefaultMessageTimeToLive is 7d/],
  },
};

export function templateOfShape({ entities }: AdoptedShape): string {
  return armTemplate(entities);
}
