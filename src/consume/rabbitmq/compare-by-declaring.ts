import type { Channel, ChannelModel } from "amqplib";

import type { CompiledSystem } from "../../brokers/index.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Made, Presence } from "./compare.ts";
import { difference, differing } from "./differences.ts";

type Topology = CompiledSystem<"rabbitmq">["topology"];

/** Source: AMQP 0-9-1, classes 50 and 40. */
const declareQueue = { method: 0x32_00_0a, answer: 0x32_00_0b };
const declareExchange = { method: 0x28_00_0a, answer: 0x28_00_0b };

/** What amqplib's own functions are made of, and its types leave out. */
interface Calling {
  readonly sendImmediately: (method: number, fields: object) => void;
  readonly rpc: (method: number, fields: object, answer: number) => Promise<unknown>;
}

/**
 * Asks the broker to compare what is there with what was compiled: it refuses a declaration with other arguments and names the first that differs, and
 * one that is alike changes nothing. It compares what the type of the queue knows, and of an exchange type and alternate exchange. Policies it leaves
 * out. Source: `rabbit_amqqueue:assert_equivalence`, `rabbit_exchange:assert_equivalence`; measured on 3.10.8, 4.0.5 and 4.3.6.
 *
 * This takes the permission to configure, which a consumer need not have. The first refusal ends the asking, so that its broker's log has one line of
 * it.
 */
export async function compareByDeclaring(
  model: ChannelModel,
  topology: Topology,
  found: Readonly<Record<"queues" | "exchanges", ReadonlyMap<string, Presence>>>,
): Promise<Made> {
  const common = { ticket: 0, durable: true, autoDelete: false };
  const declarations = [
    ...topology.queues.map(({ name, arguments: given }) => ({
      place: "queue" as const,
      name,
      ...declareQueue,
      fields: { ...common, queue: name, exclusive: false, arguments: given },
    })),
    ...topology.exchanges.map(({ name, kind, arguments: given }) => ({
      place: "exchange" as const,
      name,
      ...declareExchange,
      fields: { ...common, exchange: name, type: kind, internal: false, arguments: given },
    })),
  ].filter(({ place, name }) => (place === "queue" ? found.queues : found.exchanges).get(name) === "there");
  const differingOnes: Diagnostic[] = [];
  for (const { place, name, method, answer, fields } of declarations) {
    try {
      await declareWhatIsThere(model, method, fields, answer);
    } catch (cause) {
      const { code } = cause as { readonly code?: unknown };
      if (code === 403) return { differing: differingOnes, uncompared: ["arguments"] };
      // What has been deleted meanwhile shows when it is used.
      if (code === 404) continue;
      if (code !== 406) throw cause;
      differingOnes.push(differing(name, place, [saidBy(cause)]));
    }
  }
  return { differing: differingOnes, uncompared: [] };
}

/**
 * A passive declaration goes before, on the same channel and without waiting for it. Where it fails the broker closes the channel and does not read the
 * other one, so that nothing is ever made of what is not there. Source: `rabbit_channel:handle_method`, state `closing`.
 */
async function declareWhatIsThere(model: ChannelModel, method: number, fields: object, answer: number): Promise<void> {
  const channel: Channel = await model.createChannel();
  channel.on("error", () => undefined);
  const { sendImmediately, rpc } = channel as unknown as Calling;
  sendImmediately.call(channel, method, { ...fields, passive: true, nowait: true });
  await rpc.call(channel, method, { ...fields, passive: false, nowait: false }, answer);
  await channel.close();
}

/** The broker's words are in those of the library: `inequivalent arg 'x' for queue 'q' in vhost 'v': received 'a' but current is 'b'`. */
function saidBy(cause: unknown): string {
  const text = String((cause as { readonly message?: unknown }).message);
  const [, key, wanted, found] =
    /inequivalent arg '(.*?)' for .*: received (.*) but current is (.*?)"?$/s.exec(text) ?? [];
  return key === undefined ? `the broker says: ${text}` : difference(key, String(wanted), String(found));
}
