import type { Duplex } from "node:stream";

/**
 * The default without a value in the URL. RabbitMQ's own default is a heartbeat every half minute, and it notices a
 * lost client only after two minutes.
 */
export const heartbeatSeconds = 5;

/** The time between two looks for new bytes. */
const everyMs = 1_000;

/**
 * A broker without messages sends heartbeats, twice in the agreed time. After that time without a byte it is silent,
 * and after twice that time it is gone. This counts turns and not time: a process that was busy for long has read
 * nothing in between. Source: RabbitMQ, "Detecting Dead TCP Connections with Heartbeats".
 *
 * @param heartbeatMs the agreed time. 0 means no heartbeats, and then it checks nothing
 * @param answers called at each look with whether the broker is there
 * @param lost called once when it is gone
 * @returns a function that ends the listening
 */
export function listenTo(
  socket: Duplex,
  heartbeatMs: number,
  answers: (isAnswering: boolean) => void,
  lost: (cause: unknown) => void,
): () => void {
  let before = bytesReadOn(socket);
  let silentMs = 0;
  if (heartbeatMs === 0) return () => undefined;
  answers(true);
  const timer = setInterval(() => {
    const now = bytesReadOn(socket);
    silentMs = now === before ? silentMs + everyMs : 0;
    before = now;
    if (silentMs === 0) answers(true);
    else if (silentMs > heartbeatMs) answers(false);
    if (silentMs < 2 * heartbeatMs) return;
    clearInterval(timer);
    lost(new Error(`the broker has said nothing for ${silentMs / 1_000} s`));
  }, everyMs);
  return () => clearInterval(timer);
}

/** A socket of Node counts the bytes that it has read, with TLS and without. */
export function bytesReadOn(socket: Duplex): number {
  return (socket as unknown as { readonly bytesRead: number }).bytesRead;
}
