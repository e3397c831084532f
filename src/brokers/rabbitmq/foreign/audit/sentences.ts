import { type FindingIn, type Sentences, nameText, say } from "../../../../foreign/finding.ts";
import type { DeathReason, IgnoredSetting, SemanticsVersion } from "../../prove/semantics.ts";
import { limitTable } from "./limit-sentences.ts";
import { partialTable } from "./partial-sentences.ts";
import { type FateChange, fateChangeText } from "./upgrade.ts";
import { type Loop, type Way, guessedText, loopText, wayText } from "./way.ts";

/** The end of a dead letter without a target: kept in its queue, or deleted. */
interface Ending {
  readonly isKept: boolean;
}

/** The loss of dead letters: their reasons, and the way to it. */
interface Loss extends Ending {
  readonly reasons: readonly DeathReason[];
  readonly way: Way;
}

/** A dead letter that goes to other queues, instead of coming back or besides. */
interface Parting {
  readonly label: string;
  readonly at: string | null;
  readonly others: readonly string[];
  readonly key: string | null;
  readonly consumer: string;
  readonly guessed: readonly string[];
}

const table = {
  ...limitTable,
  ...partialTable,
  RD411: ({ exchange }: { readonly exchange: string }, { isKept }: Ending) => ({
    predicate: `dead-letters to the exchange ${nameText(exchange)}, which does not exist`,
    notes: [
      isKept
        ? "the queue keeps every dead letter inside, invisible, until the exchange exists"
        : "the broker deletes every dead letter and logs nothing",
    ],
    help: `declare the exchange ${nameText(exchange)} and bind a dead queue to it`,
  }),
  RD412: (_facts: object, loss: Loss) => ({
    predicate: "dead-letters to an exchange that has no route for it",
    notes: lossNotes(loss),
    help: "bind a queue for these messages to the dead-letter exchange, or set x-dead-letter-routing-key to a key that is bound",
  }),
  RD413: ({ isConfirmed }: { readonly isConfirmed: boolean }, loss: Loss) =>
    isConfirmed
      ? {
          predicate: "loses messages in a cycle of dead-lettering",
          notes: [
            ...lossNotes(loss),
            "the broker cuts a cycle in which no consumer rejected the message since it was last in that queue",
          ],
          help: "route messages that exceeded the delivery limit or expired to a dead queue by their reason, and only rejected messages to the wait queue",
        }
      : {
          predicate: "dead-letters to itself, and keeps each dead letter beside the copy that came back",
          notes: [
            ...lossNotes(loss),
            "on this version a queue gets no confirm for its own dead letter, and waits for it for ever",
          ],
          help: "dead-letter to a separate queue, or upgrade to 3.12.2",
        },
  RD414: ({ isRejected }: { readonly isRejected: boolean }, { loop }: { readonly loop: Loop }) => ({
    predicate: isRejected
      ? "gets a rejected message back at once, for ever"
      : "can have messages that go round for ever although no consumer rejects them any more",
    notes: loopText(loop),
    help: isRejected
      ? "dead-letter to a separate queue: a dead queue, or a wait queue with a time to live"
      : "route messages that exceeded the delivery limit or expired to a dead queue by their reason",
  }),
  RD416: (_facts: object, { loop }: { readonly loop: Loop }) => ({
    predicate: "gets a rejected message back for ever: nothing on the broker counts its attempts",
    notes: [
      ...loopText(loop),
      "so the consumer must count them in x-death, and after the last one publish the message to a dead queue and acknowledge it",
    ],
    help: "count in the consumer, or carry the attempt number in the routing key, with one wait queue for each attempt",
  }),
  RD418: () => ({
    predicate: "asks for at-least-once dead-lettering, but the broker does not apply it",
    notes: [
      "it applies only with x-overflow reject-publish and a dead-letter exchange; without them the broker can lose a dead letter",
    ],
    help: "set x-overflow to reject-publish when the queue is made, or overflow in its policy",
  }),
  RD419: ({ expiresMs }: { readonly expiresMs: number }, { isQuorum }: { readonly isQuorum: boolean }) => ({
    predicate: `holds waiting messages and is deleted with them after ${expiresMs} ms`,
    notes: [
      `${
        isQuorum
          ? "it has no consumer, and only a consumer renews the time of a quorum queue; messages and declarations do not"
          : "it has no consumer, and incoming messages do not renew the time"
      }; its messages are then deleted and not dead-lettered`,
    ],
    help: "remove x-expires: a queue that holds messages has to stay",
  }),
  RD420: (
    _facts: object,
    _evidence: object,
    {
      countsFailures,
      limit,
      ttlMs,
      dropsHead,
    }: {
      readonly countsFailures: boolean;
      readonly limit: number | null;
      readonly ttlMs: number | null;
      readonly dropsHead: boolean;
    },
  ) => {
    const back = countsFailures ? "returned by a lost consumer, or rejected with requeue," : "returned";
    const causes = [
      "rejected",
      ...(limit === null ? [] : [`${back} more than ${limit === 1 ? "once" : `${limit} times`}`]),
      ...(ttlMs === null ? [] : [`not consumed within ${ttlMs} ms`]),
      ...(dropsHead ? ["at the head of the queue when it is full"] : []),
    ];
    return {
      predicate: "has no dead-letter exchange",
      notes: [],
      detail: `a message is deleted that is ${new Intl.ListFormat("en", { type: "disjunction" }).format(causes)}`,
      help: "name a dead-letter exchange in a policy, with a dead queue bound to it",
    };
  },
  RD423: (
    { argument }: { readonly argument: string },
    {
      value,
      why,
      version,
      limit,
    }: {
      readonly value: unknown;
      readonly why: Exclude<IgnoredSetting["why"], "overridden">;
      readonly version: SemanticsVersion;
      /** The delivery limit in force. Null if the argument without effect is another one. */
      readonly limit: number | "none" | null;
    },
  ) => ({
    predicate: `has the argument ${argument} without effect`,
    notes: [
      `${argument} is ${JSON.stringify(value)}; ${whyIgnored[why]} (by the rules of ${version} and later)${limit === null ? "" : `: the limit is ${limit}`}`,
    ],
    help: "correct or remove the value when you make the queue again; a policy can change while messages wait",
  }),
  RD424: ({ comesBack }: { readonly comesBack: boolean }, { label, at, others, key, consumer, guessed }: Parting) => {
    const which = key === null ? "" : ` with the key ${JSON.stringify(key)}`;
    const names = others.join(", ");
    return {
      predicate: comesBack
        ? "shares its retries with other queues: they get the message again, though they have handled it"
        : "has retries that go to another queue and never come back",
      notes: [
        comesBack
          ? `${label} in ${at}: a copy comes back to ${consumer}, and one goes to ${names}`
          : `${label} in ${at}: a message${which} goes to ${names} only, though others come back to ${consumer} from there`,
        ...guessedText(guessed),
      ],
      help: "dead-letter the wait queue to an exchange with only this queue bound to it, or with its name to the default exchange",
    };
  },
  RD425: (
    { to }: { readonly to: string },
    { from, changes }: { readonly from: string; readonly changes: readonly FateChange[] },
  ) => ({
    predicate: `behaves differently on ${to}`,
    notes: changes.map((change) => fateChangeText(change, from, to)),
    help: "choose the behaviour, and set delivery-limit and the dead-letter exchange in a policy before the upgrade",
  }),
  RD426: ({ expiresMs }: { readonly expiresMs: number }, { ttlMs }: { readonly ttlMs: number }) => ({
    predicate: `is deleted ${expiresMs} ms after it was last declared, with the messages that wait in it`,
    notes: [
      `a message waits for ${ttlMs} ms: it is safe only if the queue is declared again before each message is published to it`,
    ],
    help: "remove x-expires and keep the queue, or declare it before each publish",
  }),
  RD428: (_facts: object, { mostStates }: { readonly mostStates: number }) => ({
    predicate: "has messages with too many different histories; the audit covers only a part of them",
    notes: [
      `its findings are true, but others may be missing: the audit explored the shortest histories, at most ${mostStates} of them`,
    ],
    help: "give dead letters fewer routes: one wait queue for each consumer and delay, with a separate routing key",
  }),
  RD431: (
    _facts: object,
    _evidence: object,
    { ttlMs, dropsHead }: { readonly ttlMs: number | null; readonly dropsHead: boolean },
  ) => {
    const causes = [
      ...(ttlMs === null ? [] : [`after ${ttlMs} ms`]),
      ...(dropsHead ? ["when the queue is full, the oldest first"] : []),
    ];
    return {
      predicate: "holds dead letters and deletes them",
      notes: ["that is right if you want this retention and handle them before it ends"],
      detail: `a dead letter is deleted ${causes.join(", and ")}`,
      help: "if dead letters have to stay until they are handled, remove the time to live and the length limit",
    };
  },
  RD432: () => ({
    predicate: "is in a circle of queues that block each other when full",
    notes: [
      "they dead-letter at least once and refuse messages when full: if the whole circle is full, none can pass on its dead letters, and nothing moves",
    ],
    help: "remove the length limit of one queue of the circle, such as the wait queue's, and limit publishing to the exchange",
  }),
  RD433: (
    { shape }: { readonly shape: "dead" | "wait" },
    { atRestart, withLastConsumer }: { readonly atRestart: boolean; readonly withLastConsumer: boolean },
  ) => {
    const causes = [
      ...(atRestart ? ["when its node restarts, since it is not durable"] : []),
      ...(withLastConsumer
        ? ["when its last consumer leaves, even one that only views it, since it is auto-delete"]
        : []),
    ];
    return {
      predicate: `holds ${shape === "dead" ? "dead letters" : "waiting messages"} and disappears by itself`,
      notes: [`it is deleted, with its messages, ${causes.join(", and ")}`],
      help: "make the queue durable and not auto-delete; that needs a new queue, because it cannot be changed",
    };
  },
  RD434: ({ exchange, ends }: { readonly exchange: string; readonly ends: readonly string[] }) => ({
    predicate: `dead-letters to the exchange ${nameText(exchange)}, which ${ends
      .map((end) => (end === "restart" ? "disappears after a restart" : "disappears with its last binding"))
      .join(", and ")}`,
    notes: ["from then on every dead letter is deleted, or with at-least-once kept inside the queue"],
    help: `make the exchange ${nameText(exchange)} durable and not auto-delete; to do so, delete it and make it again`,
  }),
  RD436: (_facts: object, loss: Loss) => ({
    predicate: "loses dead letters while their target is full",
    notes: [
      ...lossNotes(loss),
      "at-most-once dead-lettering waits for no confirm, and a full classic queue with overflow reject-publish refuses the message",
    ],
    help: "remove the length limit of the target, or make both quorum queues and dead-letter at least once",
  }),
  RD439: (_facts: object, { isFedByDeaths }: { readonly isFedByDeaths: boolean }) => ({
    predicate: "has no time to live, so messages wait behind others with a longer delay",
    notes: [
      "only the head of a queue expires: all messages behind one with an hour's delay wait for that hour",
      ...(isFedByDeaths ? ["a dead letter has no expiration, so it stays here"] : []),
    ],
    help: "make one wait queue for each delay, with x-message-ttl; a message may still have a shorter expiration",
  }),
} as const;

/** A fault of a queue. */
export type QueueFinding = FindingIn<typeof table> & {
  /** The policies that the broker must apply first for this fault, if several have the same priority. */
  readonly policiesFirst?: readonly string[];
};

export function sentencesOf(finding: QueueFinding): Sentences {
  const said = say<Sentences>(table, finding);
  if (finding.policiesFirst === undefined) return said;
  const order = finding.policiesFirst.map(nameText).join(" before ");
  const note = `this holds if the broker applies the policy ${order}: they have the same priority, and RabbitMQ does not define which one applies`;
  return { ...said, notes: [...said.notes, note] };
}

const whyIgnored: Readonly<Record<Exclude<IgnoredSetting["why"], "overridden">, string>> = {
  "wrong-type": "its value has the wrong type, which the broker ignores without notice",
  "unknown-to-version": "this version does not know it",
  "not-for-queue-type": "queues of this type do not know it",
  "needs-another-setting": "it needs another setting that is missing",
};

const deathWords: Readonly<Record<DeathReason, string>> = {
  rejected: "rejected",
  expired: "expired",
  maxlen: "dropped because the queue is too long",
  delivery_limit: "returned too often",
};

function lossNotes({ reasons, isKept, way }: Loss): string[] {
  const list = new Intl.ListFormat("en", { type: "disjunction" }).format(reasons.map((reason) => deathWords[reason]));
  const consequence = isKept
    ? "kept inside the queue for ever, invisible, and later dead letters wait behind it"
    : "deleted";
  return [`a message that is ${list} there is ${consequence}`, ...wayText(way), ...guessedText(way.guessed)];
}
