import type { WireFrame } from "./amqp-proxy.ts";

/** A delay that a consumer named on the wire, as the expiration of a copy or as a time of delivery. */
export interface NamedDelay {
  readonly messageId: string;
  /** 1 for the first named delay of the message. */
  readonly retry: number;
  /** The time of the frame. */
  readonly atMs: number;
  readonly dueAtMs: number;
}

/** In the order of the frames. A retry that comes too early, and goes back for the rest of its delay, names no new one. */
export function namedDelays(frames: readonly WireFrame[]): readonly NamedDelay[] {
  const named: NamedDelay[] = [];
  const add = (messageId: string, atMs: number, dueAtMs: number): void => {
    const retry = named.filter((each) => each.messageId === messageId).length + 1;
    named.push({ messageId, retry, atMs, dueAtMs });
  };
  const delivered = new Map<string, string>();
  for (const frame of frames) {
    if (frame.kind === "transfer") delivered.set(`${frame.session} ${frame.delivery}`, frame.messageId);
    if (frame.kind === "properties" && frame.expiration !== null)
      add(String(frame.messageId), frame.atMs, frame.atMs + Number(frame.expiration));
    if (frame.kind !== "disposition") continue;
    const { annotations, deliveryFailed } = frame.outcome;
    const time = annotations.get("x-opt-delivery-time")?.value;
    if (time === undefined || !deliveryFailed) continue;
    for (let delivery = frame.first; delivery <= frame.last; delivery++)
      add(String(delivered.get(`${frame.session} ${delivery}`)), frame.atMs, Number(time));
  }
  return named;
}
