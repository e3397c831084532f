import { createRequire } from "node:module";

import rhea from "rhea";
import type { Connection, Delivery, Session } from "rhea";

import { sleep } from "../deployed-system.ts";
import { connectByAmqp10 } from "../connect-amqp-1-0.ts";

/** The ends of messages of these consumers, in the order of their publication. */
export const endings = ["transient", "return", "permanent", "success"] as const;
type Ending = (typeof endings)[number];

/** The code of a consumer written by hand, for each ending: once correct, and then with one mistake each. */
interface Ways {
  readonly done: "when it is done" | "at once";
  readonly success: "accepted" | "nothing" | "twice" | "unsettled";
  readonly transient:
    | "later"
    | "accepted"
    | "released"
    | "rejected"
    | "no failure"
    | "at once"
    | "seconds"
    | "a timestamp"
    | "the delay"
    | "from the delivery"
    | "too late"
    | "all before"
    | "in one turn with the next";
  readonly permanent: "dead" | "accepted" | "rejected" | "without reason" | "later" | "with its body";
  readonly return: "released" | "failed";
}

const right: Ways = {
  done: "when it is done",
  success: "accepted",
  transient: "later",
  permanent: "dead",
  return: "released",
};

interface HandWritten {
  readonly ways: Ways;
  /** The words of the check about it; null for none. */
  readonly caught: RegExp | null;
}

/** By the name of the mistake. */
export const handWritten10: Readonly<Record<string, HandWritten>> = {
  "none at all": { ways: right, caught: null },
  "a message is accepted before it is done": {
    ways: { ...right, done: "at once" },
    caught: /^success.*: a disposition before its handler has ended$/,
  },
  "a message that is done is left": {
    ways: { ...right, success: "nothing" },
    caught: /^success.*: 0 dispositions instead of 1$/,
  },
  "a message is settled twice": {
    ways: { ...right, success: "twice" },
    caught: /^success.*: 2 dispositions instead of 1$/,
  },
  "an outcome is sent and not settled": {
    ways: { ...right, success: "unsettled" },
    caught: /^success.*: a disposition that does not settle$/,
  },
  "a failure is accepted": {
    ways: { ...right, transient: "accepted" },
    caught: /^transient.*: accepted instead of modified$/,
  },
  "a failure is released": {
    ways: { ...right, transient: "released" },
    caught: /^transient.*: released instead of modified$/,
  },
  "a failure is rejected": {
    ways: { ...right, transient: "rejected" },
    caught: /^transient.*: rejected instead of modified$/,
  },
  "a failure is not counted": {
    ways: { ...right, transient: "no failure" },
    caught: /^transient.*: delivery-failed is false$/,
  },
  "a failure comes again at once": {
    ways: { ...right, transient: "at once" },
    caught: /^transient.*: no x-opt-delivery-time$/,
  },
  "the delivery time is in seconds": {
    ways: { ...right, transient: "seconds" },
    caught: /^transient.*: x-opt-delivery-time -\d+ ms after the failure/,
  },
  "the delivery time is a timestamp": {
    ways: { ...right, transient: "a timestamp" },
    caught: /^transient.*: x-opt-delivery-time of type Timestamp$/,
  },
  "the delivery time is a delay": {
    ways: { ...right, transient: "the delay" },
    caught: /^transient.*: x-opt-delivery-time -\d+ ms after the failure/,
  },
  "the delay begins with the delivery": {
    ways: { ...right, transient: "from the delivery" },
    caught: /^transient.*: x-opt-delivery-time \d+ ms after the failure, at least \d+ declared$/,
  },
  "the delay is too long": {
    ways: { ...right, transient: "too late" },
    caught: /^transient.*: x-opt-delivery-time \d+ ms after the disposition, at most \d+ declared$/,
  },
  "a range covers a message whose handler runs": {
    ways: { ...right, transient: "all before" },
    caught: /^success.*: a disposition before its handler has ended$/,
  },
  "two neighbours that end differently in one turn get one outcome, as rhea does it": {
    ways: { ...right, transient: "in one turn with the next" },
    caught: /^return.*: modified instead of released$/,
  },
  "a permanent failure is accepted": {
    ways: { ...right, permanent: "accepted" },
    caught: /^permanent.*: accepted instead of modified$/,
  },
  "a permanent failure is rejected": {
    ways: { ...right, permanent: "rejected" },
    caught: /^permanent.*: rejected instead of modified$/,
  },
  "a permanent failure is tried again": {
    ways: { ...right, permanent: "later" },
    caught: /^permanent.*: undeliverable-here is false$/,
  },
  "a dead letter has no reason": {
    ways: { ...right, permanent: "without reason" },
    caught: /^permanent.*: x-opt-dlq-failure-reason is undefined instead of PERMANENT_FAILURE$/,
  },
  "a dead letter has an extra annotation": {
    ways: { ...right, permanent: "with its body" },
    caught: /^permanent.*: x-opt-body on it$/,
  },
  "a message that is returned costs an attempt": {
    ways: { ...right, return: "failed" },
    caught: /^return.*: modified instead of released$/,
  },
};

export interface Place10 {
  readonly url: string;
  readonly queue: string;
  /** The declared delay of the first retry. */
  readonly delayMs: number;
  /** Called when the handler of a message has ended. */
  readonly ended: (messageId: string, ending: Ending) => void;
}

const frames = createRequire(import.meta.url)("rhea/lib/frames.js") as {
  readonly disposition: (fields: object) => object;
};

interface Held {
  readonly id: string;
  readonly delivery: Delivery;
  readonly atMs: number;
}

/** Takes one message of each ending, and handles them. It accepts all other messages. */
export async function handleAll10(place: Place10, ways: Ways, ids: Readonly<Record<Ending, string>>): Promise<void> {
  const connection = connectByAmqp10(place.url);
  const held = await takeAll(connection, place, ways, ids);
  for (const ending of endings) {
    if (ending !== "return" || ways.transient !== "in one turn with the next") await sleep(20);
    const message = held.get(ids[ending]) as Held;
    place.ended(message.id, ending);
    settle(message, ending, ways, place);
  }
  await new Promise((resolve) => {
    connection.once("connection_close", resolve);
    connection.close();
  });
}

/** In the order of their deliveries, which is the order of publication. */
function takeAll(
  connection: Connection,
  { queue }: Place10,
  { done }: Ways,
  ids: Readonly<Record<Ending, string>>,
): Promise<ReadonlyMap<string, Held>> {
  const held = new Map<string, Held>();
  const wanted = new Set(Object.values(ids));
  const receiver = connection.open_receiver({
    source: { address: `/queues/${encodeURIComponent(queue)}` },
    credit_window: 0,
    autoaccept: false,
    autosettle: false,
  });
  receiver.add_credit(wanted.size);
  return new Promise((resolve) => {
    receiver.on("message", ({ message, delivery }) => {
      const id = String(message?.message_id);
      if (delivery === undefined) return;
      if (!wanted.has(id)) {
        delivery.accept();
        receiver.add_credit(1);
        return;
      }
      held.set(id, { id, delivery, atMs: Date.now() });
      if (done === "at once" && id === ids.success) delivery.accept();
      if (held.size === wanted.size) resolve(held);
    });
  });
}

function settle(message: Held, ending: Ending, ways: Ways, place: Place10): void {
  const { delivery } = message;
  switch (ending) {
    case "success":
      return settleSuccess(delivery, ways);
    case "transient":
      return settleTransient(message, ways.transient, place);
    case "permanent":
      return settlePermanent(delivery, ways.permanent, place);
    case "return":
      return ways.return === "released" ? release(delivery) : modified(delivery, true, {});
    default:
      return ending satisfies never;
  }
}

function settleSuccess(delivery: Delivery, { done, success, transient }: Ways): void {
  if (done === "at once" || success === "nothing" || transient === "all before") return;
  if (success === "unsettled") delivery.update(false, accepted());
  else delivery.accept();
  if (success === "twice") setImmediate(() => delivery.accept());
}

function settleTransient({ delivery, atMs }: Held, way: Ways["transient"], { delayMs }: Place10): void {
  const time = (value: unknown): Record<string, unknown> => ({ "x-opt-delivery-time": value });
  const { wrap_long: long, wrap_timestamp: timestamp } = rhea.types;
  const dueAtMs = Date.now() + delayMs;
  switch (way) {
    case "later":
    case "in one turn with the next":
      return modified(delivery, true, time(long(dueAtMs)));
    case "accepted":
      return delivery.accept();
    case "released":
      return release(delivery);
    case "rejected":
      return delivery.reject();
    case "no failure":
      return modified(delivery, false, time(long(dueAtMs)));
    case "at once":
      return modified(delivery, true, {});
    case "seconds":
      return modified(delivery, true, time(long(Math.ceil(dueAtMs / 1_000))));
    case "a timestamp":
      return modified(delivery, true, time(timestamp(dueAtMs)));
    case "the delay":
      return modified(delivery, true, time(long(delayMs)));
    case "from the delivery":
      return modified(delivery, true, time(long(atMs + delayMs)));
    case "too late":
      return modified(delivery, true, time(long(dueAtMs + delayMs)));
    case "all before":
      return settleRange(delivery, endings.length, accepted());
    default:
      return way satisfies never;
  }
}

function settlePermanent(delivery: Delivery, way: Ways["permanent"], { queue, delayMs }: Place10): void {
  const reason = { "x-opt-dlq-failure-reason": "PERMANENT_FAILURE" };
  const from = { "x-opt-dlq-original-queue": queue };
  switch (way) {
    case "dead":
      return modified(delivery, true, { ...from, ...reason }, true);
    case "accepted":
      return delivery.accept();
    case "rejected":
      return delivery.reject();
    case "without reason":
      return modified(delivery, true, from, true);
    case "with its body":
      return modified(delivery, true, { ...from, ...reason, "x-opt-body": "4711" }, true);
    case "later":
      return modified(delivery, true, { "x-opt-delivery-time": rhea.types.wrap_long(Date.now() + delayMs) });
    default:
      return way satisfies never;
  }
}

function release(delivery: Delivery): void {
  (delivery as { readonly release: () => void }).release();
}

function modified(
  delivery: Delivery,
  failed: boolean,
  annotations: Readonly<Record<string, unknown>>,
  undeliverable = false,
): void {
  delivery.modified({
    delivery_failed: failed,
    undeliverable_here: undeliverable,
    message_annotations: annotations,
  } as Parameters<Delivery["modified"]>[0]);
}

/** A function that rhea's types leave out. */
function accepted(): object {
  return (rhea.message as unknown as { accepted: () => { described: () => object } }).accepted().described();
}

/** One frame for a delivery and those that came after it. */
function settleRange(delivery: Delivery, count: number, state: object): void {
  const { session } = delivery.link as unknown as { readonly session: Session & { output: (frame: object) => void } };
  const first = delivery.id;
  session.output(frames.disposition({ role: true, first, last: first + count - 1, settled: true, state }));
}
