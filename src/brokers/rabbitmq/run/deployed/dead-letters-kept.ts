import type { Opening } from "../port.ts";
import { anyUrlOf, virtualHostIn } from "../connection.ts";
import type { Login } from "../credentials.ts";
import { managementLogin } from "./judge-found.ts";
import { ask } from "./read-settings.ts";

const everyMs = 30_000;

/**
 * Asks the management API, if its URL is given, how many messages the consumer's queues cannot dead-letter.
 * At-least-once dead-lettering keeps a message if the next queue is gone or accepts none, and no consumer sees it.
 * Source: RabbitMQ, "Quorum Queues", "At-Least-Once Dead Lettering": `messages_dlx`.
 *
 * @param loginNow the program's latest credentials, if it gives any
 * @returns a function that ends the asking
 */
export function watchKeptDeadLetters(
  { connection, compiled, listener }: Opening,
  loginNow: () => Login | null,
): () => void {
  const { managementUrl } = connection;
  if (managementUrl === undefined) return () => undefined;
  const vhost = encodeURIComponent(virtualHostIn(anyUrlOf(connection)));
  let isAsking = false;
  let isOver = false;
  const look = async (): Promise<void> => {
    const login = managementLogin(managementUrl, connection, loginNow());
    let kept = 0;
    for (const { name } of compiled.topology.queues) {
      if (isOver) return;
      const queue = await ask(login, `queues/${vhost}/${encodeURIComponent(name)}?columns=messages_dlx`);
      const { messages_dlx: count } = (queue ?? {}) as { readonly messages_dlx?: unknown };
      if (typeof count === "number") kept += count;
    }
    listener.keptDeadLetters(kept);
  };
  const lookOnce = (): void => {
    if (isAsking) return;
    isAsking = true;
    look()
      .catch(() => listener.keptDeadLetters(null))
      .finally(() => {
        isAsking = false;
      });
  };
  const timer = setInterval(lookOnce, everyMs);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
