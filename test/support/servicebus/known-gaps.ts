import { type Claim, type ClaimName, claims } from "../../../src/brokers/servicebus/semantics.ts";
import type { Observation } from "./experiment.ts";

/** What the emulator in the tests' process cannot show, although a source settles it, and why. */
export const beyondTheEmulator = {
  "expiry-is-lazy": "expires messages on time, so it cannot show what comes of their lateness",
} as const satisfies Partial<Record<ClaimName, string>>;

type Beyond = keyof typeof beyondTheEmulator;
type Assumed = {
  [Name in ClaimName]: (typeof claims)[Name] extends { readonly assumed: true } ? Name : never;
}[ClaimName];

/** The claims that an experiment has to show: all but those. */
export type ShownClaim = Exclude<ClaimName, Beyond | Assumed>;

/** Who shows that a claim holds. */
export function proofOf(name: ClaimName): "proved on the emulator in the tests' process" | "static only" {
  const { assumed }: Claim = claims[name];
  const isShown = assumed !== true && !(name in beyondTheEmulator);
  return isShown ? "proved on the emulator in the tests' process" : "static only";
}

/** Where the emulator does something else than Service Bus. */
export interface Gap {
  /** What Service Bus does, in a sentence without a subject. */
  readonly service: string;
  /** What the emulator does. */
  readonly emulator: string;
  /** What the experiment sees on the emulator. A gap that has been closed fails it, and is to be removed here. */
  readonly observed: Observation;
  readonly source: string;
}

const page = (title: string): string => `Service Bus documentation, ${JSON.stringify(title)}`;
const quotas = page("Service Bus quotas");

export const gaps = {
  "expires-on-time": {
    service: "dead-letters what has expired when it comes to it",
    emulator: "does it at the time, also where nobody receives",
    observed: { reasons: ["TTLExpiredException"] },
    source: page("Message expiration (Time to Live)"),
  },
  "first-possibility": {
    service: "has not said what it does where a claim is an assumption",
    emulator: "does the first of what is possible: a forwarded dead letter begins to count anew",
    observed: { count: 0 },
    source: "no source",
  },
  "takes-short-locks": {
    service: "takes no lock below 5 s",
    emulator: "takes one, so that tests wait less",
    observed: "accepted",
    source: "azure-service-bus-emulator-installer issue 53",
  },
  "needs-no-tls": {
    service: "asks for TLS",
    emulator: "does without, and has TLS only where a test wants it",
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
  "has-no-tiers": {
    service: "takes messages of up to 100 MB in the premium tier, and knows no topics in the basic one",
    emulator: "is always like the standard tier: 256 KB",
    observed: "MessageSizeExceeded",
    source: quotas,
  },
  "is-never-full": {
    service: "refuses what is beyond the size of a queue",
    emulator: "takes it",
    observed: { answer: "accepted", messages: 6 },
    source: quotas,
  },
  "deletes-nothing-on-idle": {
    service: "deletes a queue that is idle for as long as it says, 5 min or more",
    emulator: "takes any duration, and deletes nothing",
    observed: { answer: "accepted", exists: true },
    source: page("Service Bus queues, topics, and subscriptions"),
  },
  "has-no-partitions": {
    service: "spreads a partitioned queue over several brokers, and keeps order within each",
    emulator: "takes the setting, and keeps order over all",
    observed: ["1", "2", "3"],
    source: page("Partitioned messaging entities"),
  },
  "has-no-transfer-queue": {
    service: "has a queue for what could not be transferred in a transaction",
    emulator: "has no transactions, and no such queue",
    observed: "MessagingEntityNotFound",
    source: page("Overview of Service Bus transaction processing"),
  },
  "takes-rings": {
    service: "refuses to forward to itself, and has not said what it does with longer rings",
    emulator: "takes a ring of two, in which a message goes round until its hops are spent",
    observed: { answer: "accepted", reasons: ["MaxTransferHopCountExceeded"] },
    source: "NServiceBus.AzureServiceBus issue 737",
  },
} as const satisfies Readonly<Record<string, Gap>>;

export type GapName = keyof typeof gaps;
