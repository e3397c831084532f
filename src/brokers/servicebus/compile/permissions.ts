/** A claim of a shared access key, with the matching role and data action of Microsoft Entra. */
export interface ClaimOfConsumer {
  readonly claim: "Listen" | "Send" | "Manage";
  readonly role: string;
  readonly dataAction: string;
}

const claims = {
  Listen: { role: "Azure Service Bus Data Receiver", dataAction: "Microsoft.ServiceBus/*/receive/action" },
  Send: { role: "Azure Service Bus Data Sender", dataAction: "Microsoft.ServiceBus/*/send/action" },
  Manage: { role: "Azure Service Bus Data Owner", dataAction: "Microsoft.ServiceBus/*" },
} as const;

/**
 * Source: Microsoft's "Azure built-in roles for Integration", and "Service Bus access control with Shared Access
 * Signatures".
 */
export function claimOf(claim: ClaimOfConsumer["claim"]): ClaimOfConsumer {
  return { claim, ...claims[claim] };
}

const entities = ["queues", "topics", "topics/subscriptions", "topics/subscriptions/rules"];

/**
 * Management actions by purpose. Queues, topics and subscriptions stay when they leave the program; rules do not. To
 * create an alert, a user must be able to read the watched resource and the action group. An action has the name of the
 * resource type. Source: Microsoft's "Create or edit a metric alert rule", Prerequisites.
 */
export const toDeploy: Readonly<Record<"entities" | "alerts", readonly string[]>> = Object.freeze({
  entities: [
    ...entities.flatMap((each) => ["read", "write"].map((verb) => `Microsoft.ServiceBus/namespaces/${each}/${verb}`)),
    "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules/delete",
  ],
  alerts: [
    "Microsoft.ServiceBus/namespaces/read",
    ...["read", "write", "delete"].map((verb) => `Microsoft.Insights/metricAlerts/${verb}`),
    "Microsoft.Insights/actionGroups/read",
  ],
});
