import { docsPage } from "../../../diagnostics/docs-site.ts";
import { randomUUID } from "node:crypto";

import { SQSClient } from "@aws-sdk/client-sqs";
import { setTimeout } from "node:timers/promises";

import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import { sendOften } from "../../../operate/carry-out.ts";
import { moveLent } from "../../../operate/move-lent.ts";
import type { Letter } from "../../../operate/letter.ts";
import type { DeadLetters, Looked, Operating, OperatingConnection, Visit } from "../../../operate/port.ts";
import { type Place, errorName, isDenied, isMissing, isOutage, isRefusal } from "../run/client.ts";
import { sqsConnection } from "../run/connection.ts";
import { findUrls } from "../run/queue-urls.ts";
import { notKnown, saidBy } from "../run/refusal.ts";
import { sqsLimits } from "../compile/capabilities.ts";
import { messageOf, readLetter, unsendable } from "./letter.ts";
import { lendingOf, sendTo } from "./move.ts";
import { wholeMovesOf } from "./whole.ts";
import { type DeadQueue, inOneRequest, mostHiddenMs, putBack, readQueue, receiveAll } from "./queue.ts";

/** The dead letters of Amazon SQS. */
export const operating: Operating = Object.freeze({
  problemOf,
  connect,
  messageOf,
  unreachable: () => null,
  unsendable,
  // The ARN of a queue is `arn:<partition>:sqs:<region>:<account>:<name>`.
  diedIn: ({ properties }: Letter) => String(properties["deadLetterSource"] ?? "").split(":")[5] ?? null,
  identityOf: ({ properties }: Letter) => String(properties["messageId"]),
  addressOf: ({ url, place }: OperatingConnection) => `${hostOf(url)} ${place}`,
  arrivedAtMs: ({ properties }: Letter) => Number(properties["sentTimestamp"]),
  windowLetters: inOneRequest,
  closedFor: () => null,
  aboutLook:
    "SQS may show fewer letters than there are, in any order. Of a FIFO queue it shows the first letters of each message group. While Redeliver looked, nobody else could get these letters. Each look counts as a receive.",
});

function endpointOf({ url }: OperatingConnection): { readonly endpoint?: string } {
  return url === undefined ? {} : { endpoint: url };
}

/** AWS has endpoints of many names, and one set of queues. */
function hostOf(url: string | undefined): string {
  const host = url === undefined ? "aws" : new URL(url).host;
  return /\.amazonaws\.com(\.cn)?$/.test(host) ? "aws" : host;
}

function problemOf(connection: OperatingConnection): string | null {
  const { error } = sqsConnection.safeParse(endpointOf(connection));
  return error === undefined ? null : "--url is no endpoint that replaces AWS, such as http://localhost:4566";
}

async function connect(connection: OperatingConnection): Promise<DeadLetters> {
  const { place, url } = connection;
  const told = tellerFor({ where: url ?? `sqs@${place}`, region: place ?? "" });
  const client = new SQSClient({
    // Every target of SQS names a region.
    ...(place === null ? {} : { region: place }),
    ...endpointOf(connection),
    // The redrive itself asks again, and counts the letters whose outcome is unknown.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5_000 },
  });
  const urlOf = urlFinder(client);
  const opened = async (name: string): Promise<DeadQueue & { readonly ready: number; readonly hidden: number }> => {
    const url = await urlOf(name);
    if (url === null) throw refused([missing(name)]);
    const queue = { client, name, url, isFifo: name.endsWith(".fifo") };
    const { ready, hidden, deadAfter } = await readQueue(queue);
    if (deadAfter !== null) throw refused([moving(name, deadAfter)]);
    return { ...queue, ready, hidden };
  };
  const moves = wholeMovesOf(opened, urlOf);
  return {
    look: (name, visit) =>
      told(name, async () => {
        const queue = await opened(name);
        return look(queue, queue.ready, visit);
      }),
    move: (name, pass) => told(name, async () => moveLent(lendingOf(await opened(name), urlOf), pass)),
    settle: (name) =>
      told(name, async () => {
        const queue = await opened(name);
        const untilMs = performance.now() + mostHiddenMs;
        while ((await readQueue(queue)).hidden > 0 && performance.now() < untilMs) await setTimeout(1_000);
      }),
    putInto: (name) =>
      told(name, async () => {
        if ((await urlOf(name)) === null) throw refused([missing(name)]);
        const sending = { queue: name, history: null, staysDead: true };
        const isFifo = name.endsWith(sqsLimits.fifoSuffix);
        const run = randomUUID();
        let doubled = 0;
        const unknown = (isLast: boolean): void => void (doubled += isFifo && !isLast ? 0 : 1);
        return {
          // A group of FIFO keeps its order only one by one.
          window: isFifo ? 1 : 10,
          put: (letter) =>
            sendOften(name, () => sendTo(client, urlOf, letter, sending, `${run}-${letter.position}`), unknown),
          mayBeDoubled: () => doubled,
          close: async () => undefined,
        };
      }),
    countOf: (name) =>
      told(name, async () => {
        const queue = await opened(name);
        return queue.isFifo ? queue.ready + queue.hidden : null;
      }),
    // The URL of a queue is `https://<host>/<account>/<name>`.
    accountOf: (name) => told(name, async () => /\/(\d+)\/[^/]+$/.exec((await urlOf(name)) ?? "")?.[1] ?? ""),
    consumersOf: (name) => told(name, async () => ((await urlOf(name)) === null ? null : "unknown")),
    whole: {
      start: (name, ...given) => told(name, () => moves.start(name, ...given)),
      latest: (name) => told(name, () => moves.latest(name)),
      cancel: (name) => told(name, () => moves.cancel(name)),
    },
    close: async () => client.destroy(),
  };
}

/** Finds the URL of a queue, and remembers it. Null if there is no such queue. */
function urlFinder(client: SQSClient): (queue: string) => Promise<string | null> {
  const urls = new Map<string, string>();
  return async (name) => {
    try {
      const url = urls.get(name) ?? (await findUrls(client, [name])).get(name) ?? "";
      urls.set(name, url);
      return url;
    } catch (cause) {
      if (isMissing(cause)) return null;
      throw cause;
    }
  };
}

/** Receives all letters, shows each once, and puts them back. */
async function look(queue: DeadQueue, ready: number, visit: Visit): Promise<Looked> {
  /** The handles of the letters, by their ids. */
  const held = new Map<string, string>();
  let isDone = false;
  let isWhole = false;
  try {
    const pages = receiveAll(queue);
    for (let next = await pages.next(); ; next = await pages.next()) {
      if (next.done === true) {
        isWhole = next.value;
        break;
      }
      const found = next.value.filter(({ MessageId: id = "" }) => !held.has(id));
      let position = held.size;
      // If the visitor throws, the rest of the page has to come back, too.
      for (const { MessageId: id = "", ReceiptHandle = "" } of next.value) held.set(id, ReceiptHandle);
      for (const message of found) if (!isDone) isDone = !visit(readLetter(message, (position += 1)));
      if (isDone) break;
    }
  } finally {
    await putBack(queue, [...held.values()]);
  }
  const seen = held.size;
  const isAll = isWhole || isDone;
  const behind = queue.isFifo && !isAll ? Math.max(0, ready - seen) : 0;
  return { ready: Math.max(ready, seen), seen, consumers: 0, isWhole: isAll, behind };
}

/** Does a piece of work, and throws a RefusedError in place of an error of SQS. */
function tellerFor(place: Place): <Result>(queue: string, work: () => Promise<Result>) => Promise<Result> {
  return (queue, work) =>
    work().catch((cause: unknown) => {
      throw explained(place, queue, cause);
    });
}

function explained(place: Place, queue: string, cause: unknown): unknown {
  if (isMissing(cause)) return refused([missing(queue)]);
  if (isDenied(cause)) {
    const message = `SQS at ${place.where} does not let these credentials use ${queue}`;
    const help = `give the role the rights to operate dead letters: ${docsPage("permissions")}`;
    return refused([diagnostic("RD807", { path: queue, message, notes: [saidBy(cause)], help })]);
  }
  if (isRefusal(cause)) return refused([notKnown(cause, place)]);
  if (!isOutage(cause)) return cause;
  const { code = errorName(cause) } = cause as { readonly code?: string };
  const message = `SQS at ${place.where} does not answer: ${code}`;
  return refused([diagnostic("RD804", { path: queue, message, help: "see if the endpoint can be reached from here" })]);
}

function missing(queue: string) {
  return diagnostic("RD805", {
    path: queue,
    message: `there is no queue ${queue} in this region and account, or these credentials may not see it`,
    help: "correct the region in the target, the account of the credentials, or the name of the queue",
  });
}

function moving(queue: string, policy: string) {
  return diagnostic("RD841", {
    path: "queue",
    value: queue,
    message: `the queue ${queue} has a dead-letter queue of its own, so some looks more would move its letters`,
    notes: [`its RedrivePolicy is ${policy}`],
    help: "remove its RedrivePolicy, or name the queue that it moves letters to",
  });
}
