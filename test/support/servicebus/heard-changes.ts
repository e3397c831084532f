import type { Heard } from "@redeliver/servicebus-emulator";

import type { Change } from "../consume/one-place-changes.ts";

type Sent = Extract<Heard, { readonly kind: "sent" }>;
type Settled = Extract<Heard, { readonly kind: "settled" }>;

/** The recorded actions, with their times. */
export interface HeardAt {
  readonly heard: readonly Heard[];
  readonly atMs: readonly number[];
}

/** The recorded actions with one fault, for each action on deliveries from a queue. */
export function heardChangesOf({ heard, atMs }: HeardAt, workQueue: string): readonly Change<HeardAt>[] {
  return heard.flatMap((each, index) => {
    const instead = (what: string, ...others: readonly Heard[]): Change<HeardAt> => ({
      what: `${each.kind} ${what} (${index})`,
      value: {
        heard: [...heard.slice(0, index), ...others, ...heard.slice(index + 1)],
        atMs: [...atMs.slice(0, index), ...others.map(() => atMs[index] ?? 0), ...atMs.slice(index + 1)],
      },
    });
    if (each.kind === "settled" && each.path === workQueue)
      return [
        instead("left out"),
        instead("twice", each, { ...each }),
        instead("as received and deleted in one", { ...each, kind: "deleted" }),
        ...otherSettlements(each).map(([what, other]) => instead(what, other)),
      ];
    if (each.kind !== "sent" || !isCopy(each)) return [];
    const answer = heard.findIndex(
      (other, at) =>
        at > index && other.kind === "answered" && other.messageIds.includes(String(each.content.message_id)),
    );
    const unanswered = heard.flatMap((_, at) => (at === answer ? [] : [at]));
    return [
      instead("left out"),
      instead("twice", each, { ...each }),
      ...otherCopies(each).map(([what, other]) => instead(what, other)),
      settledFirst({ heard, atMs }, index),
      {
        what: `sent and not answered (${index})`,
        value: { heard: unanswered.map((at) => heard[at] as Heard), atMs: unanswered.map((at) => atMs[at] ?? 0) },
      },
    ];
  });
}

/** The id of a publisher's message contains no attempt. */
function isCopy({ content }: Sent): boolean {
  return /:r\d+$/.test(String(content.message_id));
}

/** The message is settled before its copy is sent. */
function settledFirst({ heard, atMs }: HeardAt, index: number): Change<HeardAt> {
  const { content } = heard[index] as Sent;
  const original = originalOf(content);
  // On a slow machine, the attempt before this one may be settled here as well: its copy was due before its answer.
  const settled = heard.findIndex(
    (each, at) =>
      at > index &&
      each.kind === "settled" &&
      originalOf(each.content) === original &&
      attemptOf(each.content) === attemptOf(content) - 1,
  );
  if (settled === -1) throw new Error(`no settlement of the message of copy ${String(content.message_id)}`);
  const order = heard.flatMap((_, at) => (at === settled ? [] : at === index ? [settled, at] : [at]));
  return {
    what: `sent after its message was settled (${index})`,
    value: { heard: order.map((at) => heard[at] as Heard), atMs: order.map((at) => atMs[at] ?? 0) },
  };
}

function originalOf({ message_id: id }: Sent["content"]): string {
  return String(id).replace(/:r\d+$/, "");
}

function attemptOf({ application_properties: properties }: Sent["content"]): number {
  return Number(properties?.["redeliver-attempt"] ?? 1);
}

function otherSettlements(settled: Settled): readonly (readonly [string, Settled])[] {
  const { settlement } = settled;
  const others: readonly Settled["settlement"][] = [
    { kind: "complete" },
    { kind: "release" },
    { kind: "abandon", properties: {} },
    { kind: "defer", properties: {} },
    { kind: "dead-letter", reason: "EXPIRED", description: "no", properties: {} },
  ];
  return [
    ...others
      .filter((other) => other.kind !== settlement.kind || other.kind === "dead-letter")
      .map((other) => [`as ${other.kind}`, { ...settled, settlement: other }] as const),
    ...(settlement.kind === "dead-letter"
      ? [["without a description", { ...settled, settlement: { ...settlement, description: null } }] as const]
      : []),
  ];
}

function otherCopies(sent: Sent): readonly (readonly [string, Sent])[] {
  const { content, dueAtMs } = sent;
  const { application_properties: properties = {} } = content;
  const withContent = (what: string, more: object): readonly [string, Sent] => [
    what,
    { ...sent, content: { ...content, ...more } },
  ];
  return [
    ["to another queue", { ...sent, path: `${sent.path}s` }],
    ...(dueAtMs === null
      ? [["scheduled", { ...sent, dueAtMs: 1 }] as const]
      : ([
          ["at once", { ...sent, dueAtMs: null }],
          ["sooner", { ...sent, dueAtMs: dueAtMs - 60_000 }],
          ["later", { ...sent, dueAtMs: dueAtMs + 60_000 }],
        ] as const)),
    withContent("with another id", { message_id: `${String(content.message_id)}-` }),
    withContent("with another subject", { subject: "order.cancelled" }),
    withContent("with another content type", { content_type: "text/html" }),
    withContent("with another correlation id", { correlation_id: "another" }),
    withContent("with another body", { body: Buffer.from('"another"') }),
    withContent("with a time to live", { ttl: 60_000 }),
    ...Object.keys(properties).map((name) => {
      const { [name]: _, ...rest } = properties as Record<string, unknown>;
      return withContent(`without ${name}`, { application_properties: rest });
    }),
    withContent("with another attempt", { application_properties: { ...properties, "redeliver-attempt": 9 } }),
    withContent("with more properties", { application_properties: { ...properties, more: 1 } }),
  ];
}
