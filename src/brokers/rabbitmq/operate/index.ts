import type { ChannelModel } from "amqplib";
import { setTimeout } from "node:timers/promises";

import { type RefusedError, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import type { DeadLetters, Operating, OperatingConnection } from "../../../operate/port.ts";
import { endLook } from "../run/amqp-0-9-1/connect.ts";
import { connectionByAmqp091, virtualHostIn } from "../run/connection.ts";
import { managementLogin } from "../run/deployed/judge-found.ts";
import { ask } from "../run/deployed/read-settings.ts";
import { type ShownQueue, judgeQueue } from "./judge-queue.ts";
import { look } from "./look.ts";
import { move } from "./move.ts";
import { createSender } from "./send.ts";
import { connectModel, toldBy } from "./told.ts";

/** RabbitMQ's dead letters, by AMQP 0-9-1. */
export const operating: Operating = Object.freeze({ problemOf, connect });

function problemOf(connection: OperatingConnection): string | null {
  const { error } = connectionByAmqp091.safeParse(connection);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `${String(issue.path[0] ?? "the connection")} ${issue.message}`;
}

async function connect(connection: OperatingConnection): Promise<DeadLetters> {
  let opened: Promise<ChannelModel> | null = null;
  const model = async (): Promise<ChannelModel> => {
    const opening = (opened ??= connectModel(connection));
    const leave = (): void => {
      if (opened === opening) opened = null;
    };
    return opening.then(
      (each) => each.once("close", leave) as ChannelModel,
      (cause: unknown) => {
        leave();
        throw cause;
      },
    );
  };
  const ready = async (queue: string): Promise<ChannelModel> => {
    const current = await model();
    await checkExists(current, queue);
    const { version } = current.connection.serverProperties;
    const problem = judgeQueue(queue, version, await shownQueue(connection, queue));
    if (problem !== null) throw refused([problem]);
    return current;
  };
  await model();
  return {
    look: (queue, visit) => toldBy(connection, queue, async () => look(await ready(queue), queue, visit)),
    move: (queue, pass) =>
      toldBy(connection, queue, async () => {
        const sender = createSender(() => connectModel(connection));
        try {
          const passed = await move(await ready(queue), sender, queue, pass);
          return { ...passed, mayBeDoubled: passed.mayBeDoubled + sender.repeated() };
        } finally {
          sender.close();
        }
      }),
    consumersOf: async (queue) => {
      const shown = await shownQueue(connection, queue);
      return shown === null ? null : Number(shown.consumers ?? 0);
    },
    close: async () => void (await opened?.then(endLook, () => undefined)),
  };
}

/** A failed passive declaration closes its channel. */
async function checkExists(model: ChannelModel, queue: string): Promise<void> {
  const channel = await model.createChannel();
  channel.on("error", () => undefined);
  await channel.checkQueue(queue);
  await channel.close();
}

const columns = "type,arguments,effective_policy_definition,consumers";

/** A new queue has no statistics for up to 10 s, and only they show the policy in force. */
const statisticsWithinMs = 20_000;
const askEveryMs = 500;

/**
 * Reads a queue from the management API.
 *
 * @returns null if the API does not show the queue
 * @throws RefusedError if the API cannot be read
 */
async function shownQueue(connection: OperatingConnection, queue: string): Promise<ShownQueue | null> {
  const { url, managementUrl } = connection;
  if (managementUrl === undefined) throw unreadable(queue, "no URL of the management API is given");
  const login = managementLogin(managementUrl, connection, null);
  const path = `queues/${encodeURIComponent(virtualHostIn(url))}/${encodeURIComponent(queue)}?columns=${columns}`;
  const untilMs = performance.now() + statisticsWithinMs;
  for (;;) {
    const shown = await ask(login, path).catch((cause: unknown) => {
      throw unreadable(queue, (cause as Error).message);
    });
    const found = shown as ShownQueue | null;
    const isComplete = found?.type === "classic" || found?.effective_policy_definition !== undefined;
    if (found === null || isComplete || performance.now() > untilMs) return found;
    await setTimeout(askEveryMs);
  }
}

function unreadable(queue: string, reason: string): RefusedError {
  const message = `the delivery limit of the queue cannot be learned: ${reason}`;
  const help = "give --management-url, with a user who has the tag management and a permission in this virtual host";
  return refused([diagnostic("RD841", { path: "managementUrl", message, value: queue, help })]);
}
