import type { ExportExample, ExamplePair } from "../example.ts";

type Properties = Readonly<Record<string, string | number | boolean>>;

interface ArmResource {
  readonly type: string;
  readonly name: string;
  readonly sku?: object;
  readonly properties: object;
}

function namespace(sku: string): ArmResource {
  return { type: "Microsoft.ServiceBus/namespaces", name: "shop", sku: { name: sku }, properties: {} };
}

/** A queue as `az group export` writes it, with only the properties that matter. */
function queue(name: string, properties: Properties = {}): ArmResource {
  return { type: "Microsoft.ServiceBus/namespaces/queues", name: `shop/${name}`, properties };
}

function subscription(...rules: readonly (readonly [string, string])[]): readonly ArmResource[] {
  const type = "Microsoft.ServiceBus/namespaces/topics";
  return [
    { type, name: "shop/orders", properties: {} },
    { type: `${type}/subscriptions`, name: "shop/orders/billing", properties: {} },
    ...rules.map(([name, sqlExpression]) => ({
      type: `${type}/subscriptions/rules`,
      name: `shop/orders/billing/${name}`,
      properties: { filterType: "SqlFilter", sqlFilter: { sqlExpression } },
    })),
  ];
}

function arm(...resources: readonly ArmResource[]): ExportExample {
  const lines = resources.map((each) => `    ${JSON.stringify(each)}`).join(",\n");
  return {
    kind: "export",
    option: "servicebus",
    noun: "an ARM template",
    text: `{\n  "contentVersion": "1.0.0.0",\n  "resources": [\n${lines}\n  ]\n}\n`,
  };
}

const placed: readonly [string, string] = ["placed", "sys.Label = 'order.placed'"];
const mortal = { defaultMessageTimeToLive: "PT10M" } as const;
const kept = { ...mortal, deadLetteringOnMessageExpiration: true } as const;
/** A chain of queues. Each forwards to the next. */
const chain = (length: number): readonly ArmResource[] =>
  Array.from({ length }, (_, index) => queue(`q${index}`, index === length - 1 ? {} : { forwardTo: `q${index + 1}` }));
const parked = (properties: Properties): ExportExample =>
  arm(queue("orders", { forwardDeadLetteredMessagesTo: "parked" }), queue("parked", properties));

/** RD740 to RD753: the findings of an audit of topologies of Azure Service Bus that others made. */
export const auditExamples = {
  RD740: {
    fires: arm(queue("orders", { lockDuration: "P5M" })),
    quiet: arm(queue("orders", { lockDuration: "PT5M" })),
  },
  RD741: {
    fires: arm(queue("orders", { lockDuration: "PT6M" })),
    quiet: arm(queue("orders", { lockDuration: "PT5M" })),
  },
  RD742: {
    fires: arm(queue("orders", { forwardTo: "billing" })),
    quiet: arm(queue("orders", { forwardTo: "billing" }), queue("billing")),
  },
  RD743: {
    fires: arm(queue("orders", { forwardTo: "billing" }), queue("billing", { forwardTo: "orders" })),
    quiet: arm(queue("orders", { forwardTo: "billing" }), queue("billing")),
  },
  RD744: {
    fires: arm(queue("orders", { requiresSession: true, forwardTo: "billing" }), queue("billing")),
    quiet: arm(queue("orders", { requiresSession: true }), queue("billing")),
  },
  RD745: { fires: arm(...chain(6)), quiet: arm(...chain(5)) },
  RD746: {
    fires: { ...parked(mortal), also: ["RD748"] },
    quiet: parked(kept),
  },
  RD748: { fires: arm(queue("orders", mortal)), quiet: arm(queue("orders", kept)) },
  RD749: {
    fires: {
      ...arm(queue("wait", { ...kept, forwardDeadLetteredMessagesTo: "orders" }), queue("orders")),
      also: ["RD746"],
    },
    quiet: arm(queue("orders", { forwardDeadLetteredMessagesTo: "dead" }), queue("dead")),
  },
  RD750: {
    fires: arm(queue("orders", { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT30S" })),
    quiet: arm(queue("orders", { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT10M" })),
  },
  RD751: {
    fires: arm(...subscription(["$Default", "1=1"], placed)),
    quiet: arm(...subscription(["$Default", "1=0"], placed)),
  },
  RD752: {
    fires: arm(namespace("Basic"), ...subscription()),
    quiet: arm(namespace("Standard"), ...subscription()),
  },
  RD753: {
    fires: arm(queue("orders", { maxDeliveryCount: 0 })),
    quiet: arm(queue("orders", { maxDeliveryCount: 3 })),
  },
} as const satisfies Readonly<Record<string, ExamplePair>>;
