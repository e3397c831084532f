import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import amqplib from "amqplib";

import type { Contract } from "../../../src/index.ts";
import type { DrivenConsumer } from "../drive.ts";
import type { Broker } from "../live.ts";
import { createManagement } from "../management.ts";

const main = resolve(import.meta.dirname, "../../../src/cli/main.ts");

/** A tenth of the messages fails every attempt, and half of the others fail the first. */
export function decide({ id, attempt }: { readonly id: string; readonly attempt: number }) {
  const kind = parseInt(id.slice(0, 4), 16) % 10;
  return kind === 0 || (kind < 6 && attempt === 1) ? "transient" : "success";
}

/**
 * Runs `migrate --apply` until it has made a number of changes or waits, or until a random time has passed.
 *
 * @param changes null for a random time
 * @returns 1 if it was killed
 */
export async function killApply(
  options: readonly string[],
  environment: Record<string, string>,
  changes: number | null,
  random: number,
): Promise<number> {
  const words = ["migrate", "--apply", "--wait", "1m", ...options];
  const child = spawn(process.execPath, [main, ...words], { env: { ...process.env, ...environment } });
  const kill = (afterMs: number): void => void setTimeout(() => child.kill("SIGKILL"), afterMs).unref();
  if (changes === null) kill(1_000 + 4_000 * random);
  let text = "";
  child.stderr.on("data", (data: Buffer) => {
    text += data.toString();
    if (changes !== null && (text.includes(": waiting") || text.split(": step ").length > changes)) kill(20 * random);
  });
  child.stdout.resume();
  const signal = await new Promise<string | null>((done) => child.on("close", (_, by) => done(by)));
  return signal === "SIGKILL" ? 1 : 0;
}

export interface Started {
  readonly contract: Contract;
  readonly driven: DrivenConsumer;
}

/** A producer that publishes until it is stopped, and knows the messages that the broker has confirmed. */
export async function produce(url: string, contracts: readonly Contract[]) {
  const connection = await amqplib.connect(url);
  const channel = await connection.createConfirmChannel();
  const confirmed = new Set<string>();
  const returned: string[] = [];
  channel.on("return", ({ properties }: amqplib.Message) => returned.push(String(properties.messageId)));
  const publish = async (): Promise<void> => {
    const messageId = randomUUID();
    await new Promise<void>((done, fail) => {
      channel.publish("shop.orders", "order.placed", Buffer.from("an order"), { messageId, mandatory: true }, (error) =>
        error === null || error === undefined ? done() : fail(error as Error),
      );
    });
    confirmed.add(messageId);
  };
  const oldLetters = 20;
  let running: Promise<void> | null = null;
  let isStopped = false;
  return {
    /** Puts messages into the work queues and the dead queues, and goes on publishing. */
    fill: async (count: number): Promise<void> => {
      for (const { deadQueue, consumer } of contracts) {
        if (consumer === "billing") continue;
        for (let index = 0; index < oldLetters; index++)
          channel.sendToQueue(String(deadQueue), Buffer.from("a letter"));
      }
      await Promise.all(Array.from({ length: count }, publish));
      const run = async (): Promise<void> => {
        while (!isStopped) {
          await publish();
          await sleep(100);
        }
      };
      running = run();
    },
    stop: () => {
      isStopped = true;
    },
    /** Waits until no message moves, and lists the messages that are lost, and those with too many attempts. */
    unsettled: async (broker: Broker, vhost: string, started: readonly Started[]): Promise<readonly string[]> => {
      isStopped = true;
      await running;
      const dead = new Set(contracts.map(({ deadQueue }) => String(deadQueue)));
      const management = createManagement(broker.managementUrl);
      const busy = async (): Promise<readonly string[]> => {
        const queues = await management.get<readonly Record<string, unknown>[]>(`queues/${encodeURIComponent(vhost)}`);
        return queues.flatMap(({ name, messages, messages_dlx: kept, messages_delayed: delayed }) => {
          const own = dead.has(String(name)) ? 0 : Number(messages ?? 0) + Number(delayed ?? 0);
          return own + Number(kept ?? 0) > 0 ? [`${String(name)} holds ${own} messages`] : [];
        });
      };
      for (let quiet = 0, tries = 0; quiet < 8 && tries < 600; tries++) {
        quiet = (await busy()).length === 0 ? quiet + 1 : 0;
        await sleep(1_000);
      }
      const letters = new Map<string, string[]>();
      for (const queue of dead) {
        const ids: string[] = [];
        for (let got = await channel.get(queue); got !== false; got = await channel.get(queue)) {
          channel.ack(got);
          ids.push(String(got.properties.messageId));
        }
        letters.set(queue, ids);
      }
      const fates = (consumers: readonly string[]): ReadonlySet<string> => {
        const own = started.filter(({ contract }) => consumers.includes(contract.consumer));
        return new Set([
          ...own.flatMap(({ driven }) => driven.seen.flatMap(({ id, ending }) => (ending === "success" ? [id] : []))),
          ...own.flatMap(({ contract }) => letters.get(String(contract.deadQueue)) ?? []),
        ]);
      };
      const lost = [["billing", "billing-before"], ["mail"]].flatMap((consumers) => {
        const ended = fates(consumers);
        const missing = [...confirmed].filter((id) => !ended.has(id));
        return missing.length === 0 ? [] : [`${consumers[0]} lost ${missing.length} of ${confirmed.size}`];
      });
      const tooOften = started.flatMap(({ contract, driven }) => {
        const most = contract.attempts.length;
        const above = [...Map.groupBy(driven.seen, ({ id }) => id).values()].filter(({ length }) => length > most);
        return above.length === 0 ? [] : [`${above.length} messages of ${contract.consumer} had more than ${most}`];
      });
      const old = [...letters.values()].flat().filter((id) => id === "undefined").length;
      return [
        ...(await busy()),
        ...lost,
        ...tooOften,
        ...(old === 2 * oldLetters ? [] : [`${old} of ${2 * oldLetters} earlier dead letters are there`]),
        ...(returned.length === 0 ? [] : [`${returned.length} messages came back to their publisher`]),
      ];
    },
    end: async (): Promise<void> => {
      isStopped = true;
      await running?.catch(() => undefined);
      await connection.close();
    },
  };
}
