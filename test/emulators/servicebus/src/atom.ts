import type { EntityKind } from "./description.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Namespace } from "./namespace.ts";
import type { Entity } from "./registry.ts";
import { statusOf } from "./stored-message.ts";
import { escapeXml } from "./xml.ts";

/** One entry of a list: its place, and its description. */
export interface Listed {
  readonly path: string;
  readonly xml: { readonly kind: "Queue" | "Topic" | "Subscription" | "Rule"; readonly content: string };
}

const connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect";
const counts = "http://schemas.microsoft.com/netservices/2011/06/servicebus";
const instance = "http://www.w3.org/2001/XMLSchema-instance";

export function entryXml({ path, xml: { kind, content } }: Listed): string {
  const id = `<id>${escapeXml(`http://localhost/${path}`)}</id><title type="text">${escapeXml(path)}</title>`;
  const description = `<${kind}Description xmlns="${connect}" xmlns:i="${instance}">${content}</${kind}Description>`;
  return `<entry xmlns="http://www.w3.org/2005/Atom">${id}<content type="application/xml">${description}</content></entry>`;
}

/** A page of a list, with the place of the next one. */
export function feedXml(list: readonly Listed[], skip: number, top: number): string {
  const self = `<link rel="self" href="http://localhost/?$skip=${skip}&amp;$top=${top}"/>`;
  const more = `<link rel="next" href="http://localhost/?$skip=${skip + top}&amp;$top=${top}"/>`;
  const links = `${self}${list.length > skip + top ? more : ""}`;
  const entries = list.slice(skip, skip + top).map(entryXml);
  return `<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">list</title>${links}${entries.join("")}</feed>`;
}

const kinds = { queue: "Queue", topic: "Topic", subscription: "Subscription" } as const satisfies Record<
  EntityKind,
  string
>;

/** An entity with its settings and the numbers of its messages. */
export function entityXml(
  namespace: Namespace,
  { kind, path, description, createdAt, updatedAt }: Entity,
): Listed["xml"] {
  const settings = Object.entries(description).map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`);
  const [created, updated] = [createdAt.toISOString(), updatedAt.toISOString()];
  const times = `<CreatedAt>${created}</CreatedAt><UpdatedAt>${updated}</UpdatedAt><AccessedAt>${updated}</AccessedAt>`;
  const content = [...settings, ...messageCounts(namespace, kind, path), times];
  return { kind: kinds[kind], content: content.join("") };
}

function messageCounts(namespace: Namespace, kind: EntityKind, path: string): readonly string[] {
  const own = countsOf(namespace.mailboxAt(path));
  const dead = countsOf(kind === "topic" ? undefined : namespace.mailboxAt(`${path}/$deadletterqueue`));
  const numbers = {
    ActiveMessageCount: own.active,
    DeadLetterMessageCount: dead.active + dead.scheduled,
    ScheduledMessageCount: own.scheduled,
    TransferMessageCount: 0,
    TransferDeadLetterMessageCount: 0,
  };
  const details = Object.entries(numbers).map(([name, count]) => `<d2p1:${name}>${count}</d2p1:${name}>`);
  const subscriptions = namespace.registry
    .list("subscription")
    .filter((entity) => entity.path.toLowerCase().startsWith(`${path.toLowerCase()}/subscriptions/`));
  return [
    `<CountDetails xmlns:d2p1="${counts}">${details.join("")}</CountDetails>`,
    `<MessageCount>${own.active + own.scheduled + dead.active}</MessageCount>`,
    "<SizeInBytes>0</SizeInBytes>",
    ...(kind === "topic" ? [`<SubscriptionCount>${subscriptions.length}</SubscriptionCount>`] : []),
  ];
}

/** Locked and deferred messages count as active ones. */
function countsOf(mailbox: Mailbox | undefined): { readonly active: number; readonly scheduled: number } {
  const all = [...(mailbox?.messages.values() ?? [])];
  const scheduled = all.filter((message) => statusOf(message) === "scheduled").length;
  return { active: all.length - scheduled, scheduled };
}
