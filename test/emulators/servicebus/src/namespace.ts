import { randomUUID } from "node:crypto";

import type { Message } from "rhea";

import { Access } from "./access.ts";
import { contentOf, scheduledTimeOf, withProperties } from "./content.ts";
import { deathOf, isDeath, propertiesOf, recordOf } from "./death.ts";
import { durationOf, isTrue } from "./description.ts";
import { bytesOf, contentRefusal, messageBytesOf } from "./limits.ts";
import { Mailbox, type MailboxRules } from "./mailbox.ts";
import type { Circumstances, MessageState, Outcome, ServicebusEvent, Sku } from "./redeliver.ts";
import { type Entity, Registry } from "./registry.ts";
import type { Refusal, Settlement } from "./settlement.ts";
import { statusOf, type StoredMessage } from "./stored-message.ts";
import type { Watcher } from "./watcher.ts";

/** The parts of an entity that hold messages, after its path. */
const insideEntity = /^($|\/\$deadletterqueue$|\/Subscriptions\/)/;
const deadLetterSuffix = /\/\$deadletterqueue$/i;

/** All messages of the namespace. The semantics decides their fate; this class carries it out, by the clock. */
export class Namespace {
  readonly registry: Registry;
  readonly access = new Access();
  watcher: Watcher = {};
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #knownIds = new Map<string, number>();
  #sequence = 0;

  constructor(sku: Sku) {
    this.registry = new Registry(sku);
  }

  /** @returns the refusal of a message; else its number, null if no entity keeps it */
  send(path: string, sent: Message): Refusal | { readonly sequenceNumber: number | null } {
    const to = this.registry.find(path)?.path ?? path;
    // Service Bus gives an id to a message that has none.
    const content: Message = { ...sent, message_id: sent.message_id ?? randomUUID() };
    const tooMuch = this.refusalOf(to, content);
    if (tooMuch !== null) return tooMuch;
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

  /** The most bytes of a message for an entity. */
  messageBytes(path: string): number {
    return messageBytesOf(this.registry.sku, this.registry.find(path)?.description ?? {});
  }

  /** The refusal of a message if an entity has no room for it; else null. */
  refusalOf(path: string, content: Message): Refusal | null {
    const tooMuch = contentRefusal(content, this.messageBytes(path));
    if (tooMuch !== null || !this.#isFull(path)) return tooMuch;
    const description = `The maximum entity size has been reached or exceeded for '${path}'.`;
    return { condition: "amqp:resource-limit-exceeded", description };
  }

  /**
   * The messages in an entity, in its subscriptions and in their dead-letter queues count. Sources: "Service Bus
   * quotas", queue or topic size; "Service Bus messaging exceptions", which names dead letters as the first reason for
   * a full queue.
   */
  #isFull(path: string): boolean {
    const { description } = this.registry.find(path) ?? {};
    const mostBytes = Number(description?.["MaxSizeInMegabytes"] ?? Number.POSITIVE_INFINITY) * 2 ** 20;
    let bytes = 0;
    for (const [key, mailbox] of this.#mailboxes)
      if (key.startsWith(path) && insideEntity.test(key.slice(path.length))) bytes += mailbox.bytes;
    return bytes >= mostBytes;
  }

  /** Cancels a scheduled message. @returns true if it existed */
  cancel(path: string, sequenceNumber: number): boolean {
    const mailbox = this.mailboxAt(path);
    const message = mailbox?.messages.get(sequenceNumber);
    if (message === undefined || statusOf(message) !== "scheduled") return false;
    this.#happens(message, { kind: "cancel" });
    return true;
  }

  /** The mailbox behind a client's address: an entity's messages, or those of its dead-letter queue. */
  mailboxAt(address: string): Mailbox | undefined {
    const isDead = deadLetterSuffix.test(address);
    const entity = this.registry.find(address.replace(deadLetterSuffix, ""));
    return entity === undefined || (isDead && entity.kind === "topic") ? undefined : this.#mailboxOf(entity, isDead);
  }

  /** True if the address forwards its messages, so that no client can receive there. */
  isForwarding(address: string): boolean {
    const isDead = deadLetterSuffix.test(address);
    const description = this.registry.find(address.replace(deadLetterSuffix, ""))?.description;
    return (description?.[isDead ? "ForwardDeadLetteredMessagesTo" : "ForwardTo"] ?? "") !== "";
  }

  /** Applies changes in the registry to the mailboxes. */
  refresh(entity: Entity): void {
    for (const isDead of [false, true]) {
      const mailbox = this.#mailboxOf(entity, isDead);
      mailbox.rules = rulesOf(entity, isDead);
      mailbox.dispatch();
    }
    this.#forwardAgain();
  }

  /** Tries again to forward messages after a change. Claim: dead-letters-wait-for-a-closed-queue. */
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
          .filter(({ path, description }) => description["Status"] !== "Active" || this.#isFull(path))
          .map(({ path }) => path),
      ),
      isKnown: (entity, messageId) => {
        asked.set(`${entity}\u0000${messageId}`, entity);
        return (this.#knownIds.get(`${entity}\u0000${messageId}`) ?? 0) > Date.now();
      },
    };
  }

  /** The namespace remembers new ids from now on. A duplicate does not extend the time of its id. */
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
      const content =
        isDead && kept === null ? withProperties(arriving.content, recordOf(place.deadLetter)) : arriving.content;
      const message: StoredMessage = {
        sequenceNumber: kept?.sequenceNumber ?? ++this.#sequence,
        content,
        bytes: bytesOf(content),
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
  /** The time to enqueue it; null for now. */
  readonly dueAtMs: number | null;
  /** Its earlier form, if it was in the namespace. */
  readonly moved: StoredMessage | null;
  readonly deadLetterSource: string | null;
}

function rulesOf({ description }: Entity, isDeadLetterQueue: boolean): MailboxRules {
  // A topic has no receivers. Its messages wait to be enqueued.
  const lockDurationMs = "LockDuration" in description ? durationOf(description, "LockDuration") : 0;
  const hasSessions = isTrue(description, "RequiresSession");
  return {
    lockDurationMs,
    requiresSession: hasSessions && !isDeadLetterQueue,
    isDeadLetterQueue,
    keepsDeferred: hasSessions && isDeadLetterQueue,
  };
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
