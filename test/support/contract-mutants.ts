import type { CompiledSystem, Operation, OutcomeName } from "../../src/index.ts";

type Contract = CompiledSystem<"rabbitmq">["contracts"][number];
type Outcome = Contract["outcomes"][OutcomeName];
type PublishOperation = Extract<Operation, { readonly operation: "basic.publish" }>;
type Range = Place["expirationMs"];
type Place = NonNullable<PublishOperation["spread"]>[number];
type ModifiedOperation = Extract<Operation, { readonly operation: "modified" }>;

/** A contract that tells the consumer's code one thing wrong. */
export interface ContractMutant {
  readonly name: string;
  readonly contract: Contract;
}

/** Every way that a contract could let a consumer of RabbitMQ do the wrong thing for an outcome. */
export function contractMutantsOf(contract: Contract): readonly ContractMutant[] {
  const names = Object.keys(contract.outcomes) as OutcomeName[];
  const outcome = (name: OutcomeName, what: string, changed: Outcome): ContractMutant[] =>
    JSON.stringify(changed) === JSON.stringify(contract.outcomes[name])
      ? []
      : [
          {
            name: `a ${/^(transient|permanent)$/.test(name) ? `${name} failure` : name} ${what}`,
            contract: { ...contract, outcomes: { ...contract.outcomes, [name]: changed } },
          },
        ];
  return names.flatMap((name) => {
    const changed = (what: string, change: (operations: readonly Operation[]) => readonly Operation[]) =>
      outcome(name, what, mapped(contract.outcomes[name], change));
    const each = (what: string, change: (operation: Operation) => Operation) =>
      changed(what, (operations) => operations.map(change));
    return [
      ...replacements[contract.protocol].flatMap(({ what, operations }) => outcome(name, what, operations)),
      ...names
        .filter((other) => other !== name)
        .flatMap((other) => outcome(name, `that ends as a ${other}`, contract.outcomes[other])),
      ...changed("in the other order", (operations) => operations.toReversed()),
      ...changed("without its first operation", (operations) => operations.slice(1)),
      ...changed("without its last operation", (operations) => operations.slice(0, -1)),
      ...copies.flatMap(({ what, change }) =>
        each(`whose copy ${what}`, (copy) =>
          copy.operation === "basic.publish" ? { ...copy, ...change(copy) } : copy,
        ),
      ),
      ...spreads.flatMap(({ what, change }) =>
        [0, 1, 2, 3, 4, 5, 6, 7].flatMap((index) =>
          each(`${what} place ${index + 1} of its spread`, (copy) =>
            copy.operation === "basic.publish" && copy.spread !== undefined
              ? { ...copy, spread: copy.spread.flatMap((place, at) => (at === index ? change(place) : [place])) }
              : copy,
          ),
        ),
      ),
      ...each("without its spread", (copy) => {
        if (copy.operation !== "basic.publish") return copy;
        const { spread: _, ...rest } = copy;
        return rest;
      }),
      ...modifications.flatMap(({ what, change }) =>
        each(what, (operation) =>
          operation.operation === "modified" ? { ...operation, ...change(operation) } : operation,
        ),
      ),
    ];
  });
}

/** The wrong operations in place of the contract's. */
const replacements: Readonly<
  Record<Contract["protocol"], readonly { readonly what: string; readonly operations: readonly Operation[] }[]>
> = {
  "amqp-0-9-1": [
    { what: "that does nothing", operations: [] },
    { what: "that is acknowledged alone", operations: [{ operation: "basic.ack" }] },
    { what: "that is requeued by basic.nack", operations: [{ operation: "basic.nack", requeue: true }] },
    { what: "that is requeued by basic.reject", operations: [{ operation: "basic.reject", requeue: true }] },
    { what: "that is rejected", operations: [{ operation: "basic.reject", requeue: false }] },
  ],
  "amqp-1.0": [
    { what: "that does nothing", operations: [] },
    { what: "that is accepted alone", operations: [{ operation: "accepted" }] },
    { what: "that is released", operations: [{ operation: "released" }] },
    {
      what: "that has failed, and waits for nothing",
      operations: [{ operation: "modified", deliveryFailed: true, undeliverableHere: false }],
    },
  ],
};

interface Change<Of, To> {
  readonly what: string;
  readonly change: (of: Of) => To;
}

/** The same time, multiplied. A contract may have none, or leave it to the handler. */
function times<Key extends string>(
  key: Key,
  factor: number,
): (of: { readonly [key in Key]?: Range | "asked" | null | undefined }) => { readonly [key in Key]?: Range } {
  return ({ [key]: time }) =>
    typeof time === "object" && time !== null
      ? ({ [key]: { from: time.from * factor, to: time.to * factor } } as { [key in Key]: Range })
      : {};
}

const copies: readonly Change<PublishOperation, Partial<PublishOperation>>[] = [
  { what: "goes to an exchange that is not there", change: () => ({ exchange: "nowhere" }) },
  {
    what: "goes to another consumer's dead queue",
    change: () => ({ exchange: "shop.dead", routingKey: "shop.shipping" }),
  },
  { what: "has a key without a binding", change: () => ({ routingKey: "nowhere" }) },
  { what: "waits twice as long", change: times("expirationMs", 2) },
  { what: "does not wait", change: times("expirationMs", 0) },
];

/** Places that jitter sends a copy to, and the same for each of them. */
const spreads: readonly Change<Place, readonly Place[]>[] = [
  { what: "without", change: () => [] },
  { what: "with nothing behind", change: (place) => [{ ...place, exchange: "nowhere" }] },
  { what: "with another consumer behind", change: (place) => [{ ...place, exchange: "shop.shipping" }] },
  { what: "with no wait in", change: (place) => [{ ...place, expirationMs: { from: 0, to: 0 } }] },
  {
    what: "with 1 ms less in",
    change: ({ exchange, expirationMs: { from, to } }) => [{ exchange, expirationMs: { from: from - 1, to: to - 1 } }],
  },
];

const modifications: readonly Change<ModifiedOperation, Partial<ModifiedOperation>>[] = [
  { what: "that does not count, or counts", change: ({ deliveryFailed }) => ({ deliveryFailed: !deliveryFailed }) },
  {
    what: "that dead-letters, or does not",
    change: ({ undeliverableHere }) => ({ undeliverableHere: !undeliverableHere }),
  },
  { what: "whose delivery time is twice as far off", change: times("deliveryTimeMs", 2) },
  { what: "whose delivery time is now", change: times("deliveryTimeMs", 0) },
];

function mapped(outcome: Outcome, change: (operations: readonly Operation[]) => readonly Operation[]): Outcome {
  return "byAttempt" in outcome ? { byAttempt: outcome.byAttempt.map(change) } : change(outcome);
}
