import type { Options } from "amqplib";
import type { ConsumeOptions } from "redeliver/consume";

import { type DeployedSystem, until } from "../deployed-system.ts";
import type { AmqpProxy } from "./amqp-proxy.ts";
import { billingUnder } from "./billing-under.ts";
import { attemptsInAll, everyEnding, everyReturn, fateOf, lateDeclared, meet, unreadable } from "./every-ending.ts";
import type { Handled } from "./handled.ts";
import type { liveStage } from "./live-stage.ts";

/** The input of a recording. */
interface Recording {
  readonly stage: ReturnType<typeof liveStage>;
  readonly strategy: NonNullable<ConsumeOptions<"rabbitmq">["target"]["strategy"]>;
  /** Fields of the consumer. */
  readonly declared: Record<string, unknown>;
  readonly attempts: number;
  /** The properties of a message beside its body, by its number. */
  readonly options: (number: number) => Options.Publish;
}

/** The frames on the wire, and the ends of the handlers meanwhile. */
export interface Recorded {
  readonly system: DeployedSystem;
  readonly frames: AmqpProxy["frames"];
  readonly handled: readonly Handled[];
}

/** Long enough to reveal a consumer that does not wait for the confirm. */
const confirmDelayMs = 20;

/**
 * Consumes messages that end in every way after every attempt, several at once. Then it consumes some until the
 * consumer stops.
 */
export async function recordEndings(recording: Recording): Promise<Recorded> {
  const { stage, strategy, declared, attempts } = recording;
  const { system, proxy } = await stage.proxied(billingUnder(strategy, { ...declared, ...lateDeclared }), strategy);
  proxy.confirmDelayMs = confirmDelayMs;
  const handled: Handled[] = [];
  const names = everyEnding(attempts);
  await publish(recording, system, [...names, unreadable.name]);
  const ended = { message: unreadable.name, attempt: 1, decision: "permanent", reason: unreadable.reason } as const;
  handled.push({ ...ended, endedAtMs: 0, framesBefore: 0 });
  const first = await consumeAll(recording, system, proxy, { ...declared, ...lateDeclared }, handled);
  const settlements = attemptsInAll(names, attempts) + 1;
  await until(60_000, () => first.count("settled") >= settlements);
  await first.running.stop();
  const returned = everyReturn(attempts);
  await publish(recording, system, returned);
  const second = await consumeAll(recording, system, proxy, declared, handled);
  await until(60_000, () => second.runs.length >= attemptsInAll(returned, attempts));
  await until(60_000, () => second.running.health().handling === returned.length);
  const [endedAtMs, framesBefore] = [Date.now(), proxy.frames.length];
  returned.forEach((message, index) =>
    handled.push({ message, attempt: index + 1, decision: "return", endedAtMs, framesBefore }),
  );
  await second.running.stop("50ms");
  return { system, frames: proxy.frames, handled };
}

async function publish({ options }: Recording, { channel }: DeployedSystem, names: readonly string[]): Promise<void> {
  names.forEach((name, number) => {
    const body = Buffer.from(name === unreadable.name ? unreadable.body : `"${name}"`);
    channel.publish("shop.orders", "order.placed", body, { messageId: name, persistent: true, ...options(number) });
  });
  await channel.waitForConfirms();
}

function consumeAll(
  { stage, strategy }: Recording,
  system: DeployedSystem,
  proxy: AmqpProxy,
  declared: Record<string, unknown>,
  handled: Handled[],
): ReturnType<typeof stage.consumed> {
  const hasDelays = system.contract("billing").retryAfter !== undefined;
  const options = { breaker: false, concurrency: 8, body: "json" } as const;
  return stage.consumed(
    { ...system, declaration: billingUnder(strategy, declared), url: proxy.url, options },
    (_, message, { number: attempt, signal }) => {
      const name = String(message.body);
      const fate = fateOf(name, attempt, hasDelays);
      const { decision, reason } = fate;
      return meet(fate, signal, () =>
        handled.push({
          message: name,
          attempt,
          decision,
          ...(reason === undefined ? {} : { reason }),
          endedAtMs: Date.now(),
          framesBefore: proxy.frames.length,
        }),
      );
    },
  );
}
