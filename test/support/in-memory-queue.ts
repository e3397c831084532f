import { operating } from "../../src/brokers/rabbitmq/operate/index.ts";
import type { DeadQueue, Letter } from "../../src/dead-letters/index.ts";
import { factsOf } from "../../src/operate/facts.ts";
import type { DeadLetters } from "../../src/operate/port.ts";
import { describeDeadLetter } from "../../src/consume/dead-letter/describe.ts";

export const deadQueue = "shop.billing.dead";
export const workQueue = "shop.billing";
export const parkedQueue = "shop.billing.parked";

/** The queues of a broker in memory, and a dead queue of it. */
export interface InMemory extends DeadQueue {
  readonly queues: Map<string, Letter[]>;
  /** Called before each letter of a pass. It may throw, as a process that ends. */
  beforeEach: (stopped: () => string | null) => void | Promise<void>;
}

/** A letter of billing that was sent again so often. */
export function letterOf(id: string, reason = "ODD", generation = 0): Letter {
  const history = [
    { generation, redrive: "before", at: "2026-03-01T08:00:00.000Z", reason, routingKey: "", position: 1 },
  ];
  return {
    position: 0,
    exchange: "",
    routingKey: deadQueue,
    redelivered: false,
    headers: {
      "dlq-failure-reason": reason,
      "dlq-original-queue": workQueue,
      ...(generation === 0 ? {} : { "redeliver-history": JSON.stringify(history) }),
    },
    properties: { messageId: id },
    body: Buffer.from(id),
  };
}

/** A dead queue that promises what an adapter does, without a broker: for the order of steps around it. */
export function inMemory(letters: readonly Letter[]): InMemory {
  const queues = new Map<string, Letter[]>([
    [deadQueue, [...letters]],
    [workQueue, []],
    [parkedQueue, []],
  ]);
  const inQueue = (name: string): Letter[] =>
    (queues.get(name) ?? []).map((each, index) => ({ ...each, position: index + 1 }));
  const own: InMemory = {
    broker: "rabbitmq",
    queue: deadQueue,
    address: "memory",
    consumer: "billing",
    isShared: false,
    contract: {
      workQueue,
      deadQueue,
      parkedQueue,
      protocol: "amqp-0-9-1",
      attempts: [],
    } as unknown as DeadQueue["contract"],
    workQueue,
    others: null,
    subject: undefined,
    generations: 2,
    operating,
    factsOf: (letter) => factsOf(letter, describeDeadLetter(operating.messageOf(letter))),
    queues,
    beforeEach: () => undefined,
    letters: lettersIn(),
  };
  function lettersIn(): DeadLetters {
    return {
      look: async (name, visit) => {
        const all = inQueue(name);
        const end = all.findIndex((letter) => !visit(letter));
        const seen = end === -1 ? all.length : end + 1;
        return { ready: all.length, seen, consumers: 0, isWhole: true };
      },
      move: async (name, pass) => {
        let sent = 0;
        let stopped: string | null = null;
        for (const letter of inQueue(name)) {
          const asks = (): string | null => pass.stopped?.() ?? null;
          await own.beforeEach(asks);
          stopped ??= asks();
          const sending = stopped === null && sent < pass.most ? pass.decide(letter) : null;
          if (sending === null) continue;
          await sending.save?.();
          const { position: _, ...whole } = sending.edited ?? letter;
          const headers = {
            ...whole.headers,
            ...(sending.history === null ? {} : { "redeliver-history": sending.history }),
          };
          if (sending.queue !== null) queues.get(sending.queue)?.push({ ...whole, headers, position: 0 });
          queues.set(
            name,
            (queues.get(name) ?? []).filter((each) => each.properties !== letter.properties),
          );
          sent += 1;
          pass.onSent?.(letter, true);
        }
        return { sent, mayBeDoubled: 0, stopped, isLost: false };
      },
      putInto: async (name) => ({
        window: 1,
        put: async (letter) => (queues.get(name)?.push(letter), null),
        mayBeDoubled: () => 0,
        close: async () => undefined,
      }),
      consumersOf: async (name) => (queues.has(name) ? 0 : null),
      close: async () => undefined,
    };
  }
  return own;
}
