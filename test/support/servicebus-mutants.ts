import type { CompiledSystem } from "../../src/index.ts";

type Servicebus = CompiledSystem<"servicebus">;
type Topology = Servicebus["topology"];
type Queue = Topology["queues"][number];
type Subscription = Topology["subscriptions"][number];
type Contract = Servicebus["contracts"][number];
type Operations = Contract["outcomes"]["success"];

/** A compiled system with one broken part of the consumer billing. */
export interface ServicebusMutant {
  readonly name: string;
  readonly compiled: Servicebus;
}

/** Every way that a person might break the entities of the consumer billing, or its code. */
export function servicebusMutantsOf(compiled: Servicebus): readonly ServicebusMutant[] {
  return [...queueMutants(compiled), ...subscriptionMutants(compiled), ...contractMutants(compiled)];
}

function queueMutants(compiled: Servicebus): readonly ServicebusMutant[] {
  const { topology } = compiled;
  const withQueues = (name: string, queues: readonly Queue[]): ServicebusMutant => ({
    name,
    compiled: { ...compiled, topology: { ...topology, queues } },
  });
  return topology.queues
    .filter(({ consumer }) => consumer !== "shipping")
    .flatMap((queue) => {
      const changes: Readonly<Record<string, Partial<Queue>>> = {
        "one delivery more": { maxDeliveryCount: queue.maxDeliveryCount + 1 },
        "one delivery less": { maxDeliveryCount: queue.maxDeliveryCount - 1 },
        "a time to live of a second": { timeToLiveMs: 1_000 },
        "no dead-lettering on expiry": { deadLetterOnExpiration: false },
        "a second to live, and dropped": { timeToLiveMs: 1_000, deadLetterOnExpiration: false },
        sessions: { requiresSession: !queue.requiresSession },
        "forwarding to another consumer": { forwardTo: "shop.shipping" },
        "dead letters to another consumer": { forwardDeadLetteredTo: "shop.shipping" },
        "dead letters to itself": { forwardDeadLetteredTo: queue.name },
      };
      const others = topology.queues.filter((each) => each !== queue);
      const changed = (change: Partial<typeof queue>) =>
        topology.queues.map((each) => (each === queue ? { ...queue, ...change } : each));
      return [
        withQueues(`without the ${queue.role} queue`, others),
        ...Object.entries(changes).map(([what, change]) =>
          withQueues(`${what} of the ${queue.role} queue`, changed(change)),
        ),
      ];
    });
}

function subscriptionMutants(compiled: Servicebus): readonly ServicebusMutant[] {
  const { topology } = compiled;
  const own = topology.subscriptions.filter(({ consumer }) => consumer === "billing");
  const changed = (
    name: string,
    subscription: Subscription,
    change: Partial<Subscription> | null,
  ): ServicebusMutant => ({
    name,
    compiled: {
      ...compiled,
      topology: {
        ...topology,
        subscriptions: topology.subscriptions.flatMap((each) => {
          if (each !== subscription) return [each];
          return change === null ? [] : [{ ...each, ...change }];
        }),
      },
    },
  });
  return own.flatMap((subscription) => [
    changed("without the subscription", subscription, null),
    changed("sessions swapped in the subscription", subscription, { requiresSession: !subscription.requiresSession }),
    changed("a subscription that forwards to another consumer", subscription, { forwardTo: "shop.shipping" }),
    changed("a subscription that forwards nowhere", subscription, { forwardTo: "shop.nowhere" }),
    ...subscription.rules.flatMap((rule) => [
      changed(`without the rule ${rule.name}`, subscription, {
        rules: subscription.rules.filter((each) => each !== rule),
      }),
      changed(`every message admitted by the rule ${rule.name}`, subscription, {
        rules: subscription.rules.map((each) => (each === rule ? { ...rule, filter: { kind: "true" } } : each)),
      }),
    ]),
  ]);
}

function contractMutants(compiled: Servicebus): readonly ServicebusMutant[] {
  const contract = compiled.contracts.find(({ consumer }) => consumer === "billing") as Contract;
  const changed = (name: string, change: Partial<Contract>): ServicebusMutant => ({
    name,
    compiled: {
      ...compiled,
      contracts: compiled.contracts.map((each) => (each === contract ? { ...contract, ...change } : each)),
    },
  });
  const { outcomes, attempts, receive } = contract;
  const outcome = (name: keyof Contract["outcomes"], operations: Operations): Partial<Contract> => ({
    outcomes: { ...outcomes, [name]: operations },
  });
  const { transient } = outcomes;
  const copying =
    "byAttempt" in transient && transient.byAttempt.some((each) => each.some((operation) => "queue" in operation))
      ? [
          changed("copies with the id of the original", {
            outcomes: {
              ...outcomes,
              transient: { byAttempt: withCopies(transient.byAttempt, { messageIdSuffix: "" }) },
            },
          }),
          changed("copies to another consumer", {
            outcomes: {
              ...outcomes,
              transient: { byAttempt: withCopies(transient.byAttempt, { queue: "shop.shipping" }) },
            },
          }),
          changed("completed before the copy", {
            outcomes: { ...outcomes, transient: { byAttempt: transient.byAttempt.map((each) => each.toReversed()) } },
          }),
          changed("completed without a copy", { outcomes: { ...outcomes, transient: [{ operation: "complete" }] } }),
          changed("a copy after the last attempt", {
            outcomes: {
              ...outcomes,
              transient: { byAttempt: [...transient.byAttempt.slice(0, -1), transient.byAttempt.at(-2) ?? []] },
            },
          }),
        ]
      : [];
  return [
    ...copying,
    changed("a transient failure is completed", outcome("transient", [{ operation: "complete" }])),
    changed("a permanent failure is abandoned", outcome("permanent", [{ operation: "abandon" }])),
    changed("a permanent failure is completed", outcome("permanent", [{ operation: "complete" }])),
    changed("a success does nothing", outcome("success", [])),
    changed("a success is abandoned", outcome("success", [{ operation: "abandon" }])),
    changed("a return is completed", outcome("return", [{ operation: "complete" }])),
    changed("a return is abandoned", outcome("return", [{ operation: "abandon" }])),
    changed("a transient failure is handed back", outcome("transient", outcomes.return as Operations)),
    changed("one attempt more is promised", { attempts: [...attempts, { attempt: attempts.length + 1, delayMs: 0 }] }),
    changed("one attempt less is promised", { attempts: attempts.slice(0, -1) }),
    changed("one delivery less is promised", { maxDeliveries: contract.maxDeliveries - 1 }),
    changed("no lock renewal", { receive: { ...receive, lockRenewalMs: 0 } }),
    changed("sessions swapped in the contract", { receive: { ...receive, sessions: !receive.sessions } }),
  ];
}

function withCopies(
  byAttempt: readonly (readonly unknown[])[],
  change: object,
): Extract<Operations, { byAttempt: unknown }>["byAttempt"] {
  return byAttempt.map((each) =>
    each.map((operation) => ("queue" in (operation as object) ? { ...(operation as object), ...change } : operation)),
  ) as Extract<Operations, { byAttempt: unknown }>["byAttempt"];
}
