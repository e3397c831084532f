import { type ClaimName, claims, type Rule } from "./redeliver.ts";

/** The observation of an experiment: JSON, so that tests can compare and show it. */
export type Observation =
  | string
  | number
  | boolean
  | null
  | readonly Observation[]
  | { readonly [key: string]: Observation };

/** Claims with a source that the emulator in the tests' process cannot show, with the reason. */
export const beyondTheEmulator = {
  "expiry-is-lazy": "expires messages on time, so it cannot show the effects of a late expiry",
} as const satisfies Partial<Record<ClaimName, string>>;

type Beyond = keyof typeof beyondTheEmulator;
type Assumed = {
  [Name in ClaimName]: (typeof claims)[Name] extends { readonly assumed: true } ? Name : never;
}[ClaimName];

/** The claims that an experiment has to show: all but those. */
export type ShownClaim = Exclude<ClaimName, Beyond | Assumed>;

/** The evidence that a claim holds. */
export function proofOf(name: ClaimName): "proved on the emulator in the tests' process" | "static only" {
  const { assumed }: Rule = claims[name];
  const isShown = assumed !== true && !(name in beyondTheEmulator);
  return isShown ? "proved on the emulator in the tests' process" : "static only";
}

/** A difference between the emulator and Service Bus. */
export interface Gap {
  /** The behaviour of Service Bus, in a sentence without a subject. */
  readonly service: string;
  /** The behaviour of the emulator. */
  readonly emulator: string;
  /** The observation on the emulator. If the gap closes, the experiment fails. Then remove the gap here. */
  readonly observed: Observation;
  readonly source: string;
}

const page = (title: string): string => `Service Bus documentation, ${JSON.stringify(title)}`;
const quotas = page("Service Bus quotas");

export const gaps = {
  "expires-on-time": {
    service: "dead-letters expired messages at some later time",
    emulator: "does it exactly at the time, even without a receiver",
    observed: { reasons: ["TTLExpiredException"] },
    source: page("Message expiration (Time to Live)"),
  },
  "first-possibility": {
    service: "does not document its behaviour if a claim is an assumption",
    emulator: "takes the first possibility: a forwarded dead letter begins to count anew",
    observed: { count: 0 },
    source: "no source",
  },
  "takes-short-locks": {
    service: "accepts no lock below 5 s",
    emulator: "accepts one, so that tests wait less",
    observed: "accepted",
    source: "azure-service-bus-emulator-installer issue 53",
  },
  "needs-no-tls": {
    service: "requires TLS",
    emulator: "works without it, and uses TLS only if a test asks for it",
    observed: "accepted",
    source: page("Service Bus authentication and authorization"),
  },
  "rules-have-no-actions": {
    service: "changes a message by the action of a rule",
    emulator: "refuses the rule",
    observed: "400",
    source: page("Topic filters and actions"),
  },
  "filters-see-the-subject": {
    service: "compares every property of a message",
    emulator: "refuses a filter on anything but the subject",
    observed: ["400", "400"],
    source: page("Topic filters and actions"),
  },
  "takes-small-queues": {
    service: "takes queues of 1, 2, 3, 4 or 5 GB, and of up to 80 GB where they are partitioned or in the premium tier",
    emulator: "takes one of 1 MB, so that a test can fill it",
    observed: "accepted",
    source: quotas,
  },
  "deletes-nothing-on-idle": {
    service: "deletes a queue that is idle for as long as it says",
    emulator: "accepts the setting, and deletes nothing",
    observed: "accepted",
    source: page("Service Bus queues, topics, and subscriptions"),
  },
  "has-no-partitions": {
    service: "spreads a partitioned queue over several brokers, and keeps order within each",
    emulator: "accepts the setting, and keeps order over all of them",
    observed: ["1", "2", "3"],
    source: page("Partitioned messaging entities"),
  },
  "has-no-transfer-queue": {
    service: "has a queue for messages that could not be transferred in a transaction",
    emulator: "has no transactions, and no such queue",
    observed: "MessagingEntityNotFound",
    source: page("Overview of Service Bus transaction processing"),
  },
  "takes-rings": {
    service: "refuses to forward to itself, and does not document longer rings",
    emulator: "accepts a ring of two, in which a message circulates until its hops are spent",
    observed: { answer: "accepted", reasons: ["MaxTransferHopCountExceeded"] },
    source: "NServiceBus.AzureServiceBus issue 737",
  },
} as const satisfies Readonly<Record<string, Gap>>;

export type GapName = keyof typeof gaps;
