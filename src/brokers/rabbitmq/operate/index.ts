import type { ChannelModel } from "amqplib";
import { setTimeout } from "node:timers/promises";

import type { AnyContract } from "../../../contract/contract.ts";
import { type RefusedError, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused, refuseIf } from "../../../diagnostics/render.ts";
import { type Letter, lossIn } from "../../../operate/letter.ts";
import type {
  DeadLetters,
  Holder,
  Operating,
  OperatingConnection,
  Putting,
  Unsendable,
} from "../../../operate/port.ts";
import { closeChannel, destroyConnection, endLook } from "../run/amqp-0-9-1/connect.ts";
import { connectionByAmqp091, virtualHostIn } from "../run/connection.ts";
import { managementLogin } from "../run/deployed/judge-found.ts";
import { ask } from "../run/deployed/read-settings.ts";
import { type ShownQueue, hasSingleActiveConsumer, judgeQueue } from "./judge-queue.ts";
import { lock } from "./lock.ts";
import { backWithinMs, countsOf, look, openChannel } from "./look.ts";
import { type MovedQueue, move, windowLetters } from "./move.ts";
import { createSender } from "./send.ts";
import { type RabbitmqPlace, connectModel, toldBy } from "./told.ts";

/** RabbitMQ's dead letters, by AMQP 0-9-1. */
export const operating: Operating = Object.freeze({
  problemOf,
  connect: async (connection: OperatingConnection) => connect(placeOf(connection)),
  messageOf: ({ properties, headers, ...fields }: Letter) => ({ properties: { ...properties, headers }, fields }),
  unreachable: ({ protocol }: AnyContract) =>
    protocol === "amqp-1.0" ? "this consumer speaks AMQP 1.0, and dead sends letters by AMQP 0-9-1 so far" : null,
  unsendable,
  // The system's exchanges lead letters on by the name of the work queue. Other exchanges led letters into a dead queue
  // before it was adopted, with the keys of their publishers. An import uses the default exchange.
  diedIn: ({ exchange, routingKey }: Letter, exchanges: readonly string[]) =>
    exchanges.includes(exchange) ? routingKey : null,
  identityOf,
  addressOf: (connection: OperatingConnection) => {
    const { host, pathname } = new URL(placeOf(connection).url);
    return host + pathname;
  },
  windowLetters,
  closedFor: () => null,
  aboutLook:
    "While Redeliver looked, nobody else could get these letters. Now they are back in order, marked as redelivered.",
});

function problemOf(connection: OperatingConnection): string | null {
  const place = placeOf(connection);
  if (place.url === "") return "name the broker with --url, such as amqps://user@host/vhost";
  const { error } = connectionByAmqp091.safeParse(place);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `${String(issue.path[0] ?? "the connection")} ${issue.message}`;
}

function unsendable(letter: Letter): Unsendable | null {
  const isOfAmqp10 = Object.keys(letter.headers).some((name) => name.startsWith("x-opt-"));
  if (isOfAmqp10 || letter.properties["type"] === "amqp-1.0") return "by AMQP 1.0";
  return lossIn(letter) === null ? null : "not whole";
}

/** A look changes the counts that the broker adds, and with them the order of the headers: measured on 3.10.8. */
function identityOf({ exchange, routingKey, headers, properties, body }: Letter): string {
  const { "x-delivery-count": _, "x-acquired-count": __, ...others } = headers;
  const kept = Object.entries(others).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([exchange, routingKey, kept, properties]) + Buffer.from(body).toString("latin1");
}

/** The environment keeps a password out of the list of processes. */
function placeOf({ url, managementUrl, tls }: OperatingConnection): RabbitmqPlace {
  const { RABBITMQ_URL, RABBITMQ_MANAGEMENT_URL, RABBITMQ_USERNAME, RABBITMQ_PASSWORD } = process.env;
  const text = url ?? RABBITMQ_URL ?? "";
  const known = { tls, url: text, managementUrl: managementUrl ?? RABBITMQ_MANAGEMENT_URL };
  if (!URL.canParse(text)) return known;
  const full = new URL(text);
  if (full.username === "" && RABBITMQ_USERNAME !== undefined) full.username = encodeURIComponent(RABBITMQ_USERNAME);
  if (full.password === "" && RABBITMQ_PASSWORD !== undefined) full.password = encodeURIComponent(RABBITMQ_PASSWORD);
  return { ...known, url: full.href };
}

function putInto(connection: RabbitmqPlace, queue: string): Putting {
  const sender = createSender(() => connectModel(connection));
  const sending = { queue, history: null, staysDead: true };
  return {
    window: windowLetters,
    put: (letter) => sender.send(letter, sending),
    mayBeDoubled: sender.repeated,
    close: async () => sender.close(),
  };
}

async function connect(connection: RabbitmqPlace): Promise<DeadLetters> {
  let opened: Promise<ChannelModel> | null = null;
  let locked: readonly [queue: string, holder: Holder] | null = null;
  const model = async (): Promise<ChannelModel> => {
    const opening = (opened ??= connectModel(connection).then(async (each) => {
      const relocked = locked === null ? null : lock(connection, each, ...locked);
      await relocked?.catch((cause: unknown) => {
        destroyConnection(each);
        throw cause;
      });
      return each;
    }));
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
  const ready = async (queue: string): Promise<MovedQueue & { readonly model: ChannelModel }> => {
    const current = await model();
    await checkExists(current, queue);
    const { version } = current.connection.serverProperties;
    const shown = await shownQueue(connection, queue);
    refuseIf(judgeQueue(queue, version, shown));
    return { model: current, queue, answersGet: !hasSingleActiveConsumer(shown) };
  };
  await model();
  return {
    look: (queue, visit) => toldBy(connection, queue, async () => look((await ready(queue)).model, queue, visit)),
    move: (queue, pass) =>
      toldBy(connection, queue, async () => {
        const sender = createSender(() => connectModel(connection));
        try {
          const { model: current, ...moved } = await ready(queue);
          const passed = await move(current, sender, moved, pass);
          return { ...passed, mayBeDoubled: passed.mayBeDoubled + sender.repeated() };
        } finally {
          sender.close();
        }
      }),
    putInto: async (queue) => {
      await toldBy(connection, queue, async () => checkExists(await model(), queue));
      return putInto(connection, queue);
    },
    consumersOf: async (queue) => {
      const shown = await shownQueue(connection, queue);
      return shown === null ? null : consumersNow(await model(), queue, shown);
    },
    lock: async (queue, holder) => {
      await lock(connection, await model(), queue, holder);
      locked = [queue, holder];
    },
    settle: (queue) =>
      toldBy(connection, queue, async () => {
        const untilMs = performance.now() + backWithinMs;
        const channel = await openChannel(await model());
        while ((await countsOf(channel, queue)).consumerCount > 0 && performance.now() < untilMs)
          await setTimeout(askEveryMs);
        await closeChannel(channel);
      }),
    close: async () => void (await opened?.then(endLook, () => undefined)),
  };
}

/** A failed passive declaration closes its channel. */
async function checkExists(model: ChannelModel, queue: string): Promise<void> {
  const channel = await model.createChannel();
  channel.on("error", () => undefined);
  await channel.checkQueue(queue);
  await closeChannel(channel);
}

/** Statistics still show a consumer that has just ended. From 4.3 on, anything newer needs a permission for the queue. */
async function consumersNow(model: ChannelModel, queue: string, { consumers = 0 }: ShownQueue): Promise<number> {
  const channel = await openChannel(model);
  try {
    const { consumerCount } = await countsOf(channel, queue);
    await closeChannel(channel);
    return consumerCount;
  } catch {
    return Number(consumers);
  }
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
async function shownQueue(connection: RabbitmqPlace, queue: string): Promise<ShownQueue | null> {
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
