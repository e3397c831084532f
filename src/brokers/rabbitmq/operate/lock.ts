import { setTimeout } from "node:timers/promises";

import type { ChannelModel } from "amqplib";

import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import { heldProblem } from "../../../operate/journal-problems.ts";
import type { Holder } from "../../../operate/port.ts";
import { lockNameOf } from "../compile/permissions.ts";
import { closeChannel } from "../run/amqp-0-9-1/connect.ts";
import { virtualHostIn } from "../run/connection.ts";
import { managementLogin } from "../run/deployed/judge-found.ts";
import { ask } from "../run/deployed/read-settings.ts";
import { isLocked } from "../run/queue-refusals.ts";
import { openChannel } from "./look.ts";
import type { RabbitmqPlace } from "./told.ts";

const heldBy = "x-redeliver-held-by";
const heldSince = "x-redeliver-held-since";

/**
 * Makes the queue that only one connection can have. The broker deletes it when the connection ends, with the letters
 * that the connection held back in their queue.
 *
 * @throws RefusedError if another connection has it, or if the user may not make it
 */
export async function lock(
  connection: RabbitmqPlace,
  model: ChannelModel,
  queue: string,
  { who, at }: Holder,
): Promise<void> {
  const name = lockNameOf(queue);
  const wanted = { "x-queue-type": "classic", [heldBy]: who, [heldSince]: at };
  try {
    await makeOnceFree(model, name, wanted);
  } catch (cause) {
    if (isLocked(cause)) throw refused([heldProblem(queue, await holderOf(connection, name))]);
    if ((cause as { readonly code?: unknown }).code !== 403) throw cause;
    const message = `this user may not make the queue ${name} in the virtual host ${virtualHostIn(connection.url)}`;
    const help = `rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with a CONFIGURE that matches ${name}`;
    throw refused([
      diagnostic("RD807", { path: name, message, notes: ["it is the lock that keeps a second redrive away"], help }),
    ]);
  }
}

/** A redrive that has just ended may still close its connection, and the next one often follows at once. */
const freeWithinMs = 3_000;
const askEveryMs = 200;

async function makeOnceFree(model: ChannelModel, name: string, wanted: object): Promise<void> {
  const untilMs = performance.now() + freeWithinMs;
  for (;;) {
    const channel = await openChannel(model);
    try {
      await channel.assertQueue(name, { exclusive: true, durable: false, arguments: wanted });
      return await closeChannel(channel);
    } catch (cause) {
      if (!isLocked(cause) || performance.now() > untilMs) throw cause;
    }
    await setTimeout(askEveryMs);
  }
}

/** Reads from the lock who has it. Null if the management API does not say. */
async function holderOf(connection: RabbitmqPlace, name: string): Promise<Holder | null> {
  const { url, managementUrl } = connection;
  if (managementUrl === undefined) return null;
  const path = `queues/${encodeURIComponent(virtualHostIn(url))}/${encodeURIComponent(name)}?columns=arguments`;
  const shown = await ask(managementLogin(managementUrl, connection, null), path).catch(() => null);
  const values = (shown as { readonly arguments?: Readonly<Record<string, unknown>> } | null)?.arguments ?? {};
  const { [heldBy]: who, [heldSince]: at } = values;
  return typeof who === "string" && typeof at === "string" ? { who, at } : null;
}
