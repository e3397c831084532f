import { randomUUID } from "node:crypto";

import type { Message } from "rhea";

import { servicebusLimits } from "../../../../src/brokers/servicebus/capabilities.ts";
import type {
  Circumstances,
  MessageState,
  Outcome,
  ServicebusEvent,
} from "../../../../src/brokers/servicebus/semantics/message-state.ts";
import { Access } from "./access.ts";
import { contentOf, scheduledTimeOf, withProperties } from "./content.ts";
import { deathOf, isDeath, propertiesOf, recordOf } from "./death.ts";
import { durationOf, isTrue } from "./description.ts";
import { Mailbox, type MailboxRules } from "./mailbox.ts";
import { type Entity, Registry } from "./registry.ts";
import type { Refusal, Settlement } from "./settlement.ts";
import { statusOf, type StoredMessage } from "./stored-message.ts";
import type { Watcher } from "./watcher.ts";

/** Source: Service Bus quotas. The error is that of other arguments that Service Bus does not take. */
const idTooLong: Refusal = {
  condition: "com.microsoft:argument-error",
  description: `The id of a message has more than ${servicebusLimits.messageIdLength} characters.`,
};
const deadLetterSuffix = /\/\$deadletterqueue$/i;

/** All messages of the namespace. The semantics says what becomes of them; here it is done, by the clock. */
export class Namespace {
  readonly registry = new Registry();
  readonly access = new Access();
  watcher: Watcher = {};
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #knownIds = new Map<string, number>();
  #sequence = 0;

  /** @returns why a message is not taken; else under which number it is kept, null where it is kept nowhere */
  send(path: string, sent: Message): Refusal | { readonly sequenceNumber: number | null } {
    const to = this.registry.find(path)?.path ?? path;
    // Service Bus gives an id to a message that has none.
    const content: Message = { ...sent, message_id: sent.message_id ?? randomUUID() };
    if (String(content.message_id).length > servicebusLimits.messageIdLength) return idTooLong;
    const dueAtMs = scheduledTimeOf(content);
    const scheduled = dueAtMs !== null && dueAtMs > Date.now();
    const unwanted = this.watcher.refuse?.(to, content) ?? null;
    if (unwanted !== null) return unwanted;
    const asked = new Map<string, string>();
    const [outcome = []] = this.registry.semantics.send(
      { to, content: contentOf(content), timeToLiveMs: content.ttl ?? null, scheduled },
      this.#circumstances(asked, false),
    );
    const refused = outcome.find(({ place }) => place.kind === "refused");
    if (refused?.place.kind === "refused") return refusalOf(to, refused.place.error);
    this.#remember(asked);
    this.watcher.heard?.({ kind: "sent", path: to, content, dueAtMs });
    const arriving = { content, dueAtMs: scheduled ? dueAtMs : null, moved: null, deadLetterSource: null };
    const stored = this.#store(outcome, arriving);
    return { sequenceNumber: stored[0]?.sequenceNumber ?? null };
  }

  /** Takes back a scheduled message. @returns whether it was there */
  cancel(path: string, sequenceNumber: number): boolean {
    const mailbox = this.mailboxAt(path);
    const message = mailbox?.messages.get(sequenceNumber);
    if (message === undefined || statusOf(message) !== "scheduled") return false;
    this.#happens(message, { kind: "cancel" });
    return true;
  }

  /** Where a client's address leads: an entity's messages, or those of its dead-letter queue. */
  mailboxAt(address: string): Mailbox | undefined {
    const isDead = deadLetterSuffix.test(address);
    const entity = this.registry.find(address.replace(deadLetterSuffix, ""));
    return entity === undefined || (isDead && entity.kind === "topic") ? undefined : this.#mailboxOf(entity, isDead);
  }

  /** Whether messages pass an address on, so that nobody can receive there. */
  isForwarding(address: string): boolean {
    const isDead = deadLetterSuffix.test(address);
    const description = this.registry.find(address.replace(deadLetterSuffix, ""))?.description;
    return (description?.[isDead ? "ForwardDeadLetteredMessagesTo" : "ForwardTo"] ?? "") !== "";
  }

  /** What has changed in the registry changes what mailboxes do from now on. */
  refresh(entity: Entity): void {
    for (const isDead of [false, true]) {
      const mailbox = this.#mailboxOf(entity, isDead);
      mailbox.rules = rulesOf(entity, isDead);
      mailbox.dispatch();
    }
    this.#forwardAgain();
  }

  /** What could not be forwarded is tried again when something has changed. Claim: dead-letters-wait-for-a-closed-queue. */
  #forwardAgain(): void {
    for (const mailbox of this.#mailboxes.values())
      for (const message of mailbox.messages.values()) {
        const waits = this.registry.semantics.spontaneousEvents(message.state).some(({ kind }) => kind === "forward");
        if (waits) this.#happens(message, { kind: "forward" });
      }
  }

  remove(path: string): boolean {
    const gone = this.registry.delete(path);
    for (const entity of gone)
      for (const key of [keyOf(entity.path, false), keyOf(entity.path, true)]) {
        this.#mailboxes.get(key)?.close({ condition: "amqp:not-found", description: `${entity.path} was deleted.` });
        this.#mailboxes.delete(key);
      }
    return gone.length > 0;
  }

  close(): void {
    for (const mailbox of this.#mailboxes.values())
      mailbox.close({ condition: "amqp:connection:forced", description: "The broker ends." });
    this.#mailboxes.clear();
  }

  #mailboxOf(entity: Entity, isDead: boolean): Mailbox {
    const key = keyOf(entity.path, isDead);
    const known = this.#mailboxes.get(key);
    if (known !== undefined) return known;
    const mailbox = new Mailbox(rulesOf(entity, isDead), (message, event, settlement) =>
      this.#happens(message, event, settlement),
    );
    this.#mailboxes.set(key, mailbox);
    return mailbox;
  }

  #happens(message: StoredMessage, event: ServicebusEvent, settlement?: Settlement): void {
    const before = message.state;
    this.#tell(message, event, settlement);
    const asked = new Map<string, string>();
    const isExpired = message.expiresAtMs <= Date.now();
    // The first outcome is the documented or likely one.
    const [outcome] = this.registry.semantics.step(before, event, this.#circumstances(asked, isExpired));
    if (outcome === undefined)
      throw new Error(`${event.kind} cannot happen to a message that is ${JSON.stringify(before.place)}`);
    this.#remember(asked);
    if (settlement !== undefined) message.content = withProperties(message.content, propertiesOf(settlement));
    const [next] = outcome;
    if (next !== undefined && event.kind !== "schedule-due" && mailboxKeyOf(next) === mailboxKeyOf(before)) {
      message.state = next;
      return;
    }
    this.#mailboxes.get(mailboxKeyOf(before) ?? "")?.remove(message);
    message.state = next ?? before;
    const death = deathOf(event, isExpired, next);
    const content = death === null ? message.content : withProperties(message.content, death);
    const deadLetterSource = isDeath(event, before) ? this.#nameOf(before) : null;
    this.#store(outcome, { content, dueAtMs: null, moved: message, deadLetterSource });
  }

  #tell(message: StoredMessage, { kind }: ServicebusEvent, settlement: Settlement | undefined): void {
    const { content, sequenceNumber, state } = message;
    const about = { path: this.#nameOf(state) ?? "", sequenceNumber, content };
    const { heard } = this.watcher;
    if (kind === "deliver") heard?.({ kind: "delivered", ...about, deliveryCount: state.deliveryCount });
    if (kind === "receive-and-delete") heard?.({ kind: "deleted", ...about });
    if (settlement !== undefined) heard?.({ kind: "settled", ...about, settlement });
  }

  #nameOf({ place }: MessageState): string | null {
    return place.kind === "entity" ? place.entity : null;
  }

  #circumstances(asked: Map<string, string>, isExpired: boolean): Circumstances {
    return {
      isExpired,
      closed: new Set(
        [...this.registry.list("queue"), ...this.registry.list("topic")]
          .filter(({ description }) => description["Status"] !== "Active")
          .map(({ path }) => path),
      ),
      isKnown: (entity, messageId) => {
        asked.set(`${entity}\u0000${messageId}`, entity);
        return (this.#knownIds.get(`${entity}\u0000${messageId}`) ?? 0) > Date.now();
      },
    };
  }

  /** Ids that were looked for are known from now on. A duplicate does not make its id known for longer. */
  #remember(asked: ReadonlyMap<string, string>): void {
    for (const [key, path] of asked) {
      const description = this.registry.find(path)?.description;
      if (description === undefined || (this.#knownIds.get(key) ?? 0) > Date.now()) continue;
      this.#knownIds.set(key, Date.now() + durationOf(description, "DuplicateDetectionHistoryTimeWindow"));
    }
  }

  #store(outcome: Outcome, arriving: Arriving): readonly StoredMessage[] {
    return outcome.flatMap((state) => {
      const { place } = state;
      const entity = place.kind === "entity" ? this.registry.find(place.entity) : undefined;
      if (place.kind !== "entity" || entity === undefined) return [];
      const isDead = place.deadLetter !== null;
      // A dead letter in the entity's own dead-letter queue keeps its number and its time.
      const kept = isDead ? arriving.moved : null;
      const enqueuedAtMs = kept?.enqueuedAtMs ?? Date.now();
      const expires = !isDead && arriving.dueAtMs === null && state.timeToLiveMs !== null;
      const message: StoredMessage = {
        sequenceNumber: kept?.sequenceNumber ?? ++this.#sequence,
        content:
          isDead && kept === null ? withProperties(arriving.content, recordOf(place.deadLetter)) : arriving.content,
        state,
        enqueuedAtMs,
        expiresAtMs: expires ? enqueuedAtMs + (state.timeToLiveMs ?? 0) : Number.POSITIVE_INFINITY,
        dueAtMs: arriving.dueAtMs ?? Number.POSITIVE_INFINITY,
        lock: null,
        deadLetterSource: isDead ? null : arriving.deadLetterSource,
      };
      this.#mailboxOf(entity, isDead).put(message);
      return [message];
    });
  }
}

interface Arriving {
  readonly content: Message;
  /** When it is to be enqueued; null for now. */
  readonly dueAtMs: number | null;
  /** What it was before, if it was in the namespace. */
  readonly moved: StoredMessage | null;
  readonly deadLetterSource: string | null;
}

function rulesOf({ description }: Entity, isDeadLetterQueue: boolean): MailboxRules {
  // A topic has no receivers; what it holds waits to be enqueued.
  const lockDurationMs = "LockDuration" in description ? durationOf(description, "LockDuration") : 0;
  const requiresSession = isTrue(description, "RequiresSession") && !isDeadLetterQueue;
  return { lockDurationMs, requiresSession, isDeadLetterQueue };
}

function keyOf(path: string, isDead: boolean): string {
  return `${path}${isDead ? "/$deadletterqueue" : ""}`;
}

function mailboxKeyOf({ place }: MessageState): string | null {
  return place.kind === "entity" ? keyOf(place.entity, place.deadLetter !== null) : null;
}

function refusalOf(path: string, error: string): Refusal {
  return error === "MessagingEntityNotFound"
    ? { condition: "amqp:not-found", description: `The messaging entity '${path}' could not be found.` }
    : { condition: "com.microsoft:entity-disabled", description: `The messaging entity '${path}' is disabled.` };
}
