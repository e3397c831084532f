import type { Delivery, EventContext, Sender } from "rhea";

import { acceptSession, sessionFilter } from "./accept-session.ts";
import { accepted, echo, internalsOf, modified, type OnePerTurn, refuse, rejected, released } from "./link.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Namespace } from "./namespace.ts";
import type { Taker } from "./sessions.ts";
import type { Refusal, Settlement } from "./settlement.ts";
import { delivered, type StoredMessage } from "./stored-message.ts";
import { whenLinkEnds } from "./when-link-ends.ts";

/** A client that receives from a queue, a subscription, or the dead-letter queue of one. */
export function openReceivingLink(sender: Sender, namespace: Namespace, turns: OnePerTurn): void {
  const address = sender.source.address ?? "";
  const filter: Readonly<Record<string, unknown>> = sender.source.filter ?? {};
  const wantsSession = sessionFilter in filter;
  const mailbox = namespace.mailboxAt(address);
  const claims = namespace.access.claimsOf(sender.connection);
  const refusal = whyNot(namespace, address, mailbox, wantsSession) ?? claims.refusalOf(address, ["Listen"]);
  if (refusal === null) claims.guard(sender, address, "Listen");
  if (refusal !== null || mailbox === undefined) {
    echo(sender);
    if (refusal !== null) refuse(sender, refusal);
  } else if (wantsSession) {
    const wanted = (filter[sessionFilter] ?? null) as string | null;
    acceptSession(sender, mailbox, wanted, (session) => receive(sender, namespace, mailbox, session, turns));
  } else {
    echo(sender);
    receive(sender, namespace, mailbox, null, turns);
  }
}

function whyNot(
  namespace: Namespace,
  address: string,
  mailbox: Mailbox | undefined,
  wantsSession: boolean,
): Refusal | null {
  const notAllowed = (description: string): Refusal => ({ condition: "amqp:not-allowed", description });
  if (mailbox === undefined || namespace.registry.find(address)?.kind === "topic")
    return { condition: "amqp:not-found", description: `The messaging entity '${address}' could not be found.` };
  if (namespace.isForwarding(address))
    return notAllowed(`Cannot create a message receiver on ${address}, which forwards its messages.`);
  if (mailbox.rules.requiresSession === wantsSession) return null;
  return notAllowed(
    wantsSession
      ? `${address} has no sessions.`
      : "It is not possible for an entity that requires sessions to create a non-sessionful message receiver.",
  );
}

function receive(sender: Sender, namespace: Namespace, mailbox: Mailbox, session: string | null, turns: OnePerTurn) {
  const mode = sender.snd_settle_mode === 1 ? "receive-and-delete" : "peek-lock";
  /** The used part of all credit from the client. rhea knows it only in its next turn. */
  let used = 0;
  const given = (): number => internalsOf(sender).credit + internalsOf(sender).delivery_count;
  const taker: Taker = {
    session,
    mode,
    credit: () => (sender.is_open() ? given() - used : 0),
    take: (message) => {
      used++;
      const delivery = sender.send(delivered(message, mailbox.lockedUntilMs(message)), tagOf(message));
      if (mode === "receive-and-delete") (delivery as { settled: boolean }).settled = true;
    },
    evict: (refusal) => refuse(sender, refusal),
  };
  sender.on("sender_flow", () => mailbox.dispatch());
  const drain = async (): Promise<void> => {
    await namespace.watcher.mayDrain?.();
    if (!sender.is_open()) return;
    mailbox.dispatch();
    used = given();
    sender.set_drained(true);
    internalsOf(sender).connection["_register"]();
  };
  sender.on("sender_draining", () => void drain());
  const forgotten = new WeakSet<Delivery>();
  // Answers with the outcome that the client asked for, because the client for Java takes any other one for a failure.
  const answer = (settlement: Settlement, delivery: Delivery, outcome: unknown): void => {
    // A client that has settled a delivery has forgotten it, and gets no further answer.
    if (mode !== "peek-lock" || forgotten.has(delivery)) return;
    const fate = namespace.watcher.fateOf?.(settlement) ?? "answered";
    if (fate === "lost") return;
    const refusal = mailbox.settle((delivery.tag as Buffer).toString("hex"), settlement);
    if (fate === "unanswered") forgotten.add(delivery);
    else turns.add(() => settle(delivery, refusal === null ? outcome : rejected(refusal)));
  };
  sender.on("accepted", ({ delivery }: Settled) => answer({ kind: "complete" }, delivery, accepted()));
  sender.on("rejected", ({ delivery }: Settled) => answer(deadLetterOf(delivery), delivery, rejected()));
  sender.on("modified", ({ delivery }: Settled) => answer(modificationOf(delivery), delivery, modified()));
  sender.on("released", ({ delivery }: Settled) => answer({ kind: "release" }, delivery, released()));
  whenLinkEnds(sender, (how) => mailbox.detach(taker, how));
  mailbox.attach(taker);
}

type Settled = Required<Pick<EventContext, "delivery">>;

function settle(delivery: Delivery, outcome: unknown): void {
  delivery.update(true, outcome);
  // A client that settles second sends no more, and rhea would keep the delivery for ever.
  (delivery as { remote_settled: boolean }).remote_settled = true;
}

function deadLetterOf({ remote_state: state }: Delivery): Settlement {
  const { DeadLetterReason, DeadLetterErrorDescription, ...properties } = state?.["error"]?.info ?? {};
  const [reason, description] = [DeadLetterReason ?? null, DeadLetterErrorDescription ?? null];
  return { kind: "dead-letter", reason, description, properties };
}

function modificationOf({ remote_state: state }: Delivery): Settlement {
  const kind = state?.["undeliverable_here"] === true ? "defer" : "abandon";
  return { kind, properties: state?.["message_annotations"] ?? {} };
}

function tagOf({ lock, sequenceNumber }: StoredMessage): Buffer {
  return lock === null ? Buffer.from(String(sequenceNumber)) : Buffer.from(lock.token, "hex");
}
