import type { Channel, ChannelModel } from "amqplib";

import type { RabbitmqCompiled } from "../../compile/compile.ts";
import type { Diagnostic } from "../../../../diagnostics/diagnostic.ts";
import { closeChannel } from "../amqp-0-9-1/connect.ts";
import type { Made, Presence } from "./compare.ts";
import { difference, differing } from "./differences.ts";

type Topology = RabbitmqCompiled["topology"];

/** Source: AMQP 0-9-1, classes 50 and 40. */
const declareQueue = { method: 0x32_00_0a, answer: 0x32_00_0b };
const declareExchange = { method: 0x28_00_0a, answer: 0x28_00_0b };

/** The parts behind amqplib's own functions, which its types leave out. */
interface Calling {
  readonly sendImmediately: (method: number, fields: object) => void;
  readonly rpc: (method: number, fields: object, answer: number) => Promise<unknown>;
}

/** The only argument of an exchange that the broker compares. Source: `rabbit_exchange:assert_args_equivalence`. */
const comparedArgument = "alternate-exchange";

/**
 * Makes the broker compare the deployed resources with the compiled ones. It refuses a declaration with other arguments
 * and names the first difference, and an equal one changes nothing. It compares the arguments that the queue type
 * knows, and an exchange's type and alternate exchange, but no policies. Source: `rabbit_amqqueue:assert_equivalence`,
 * `rabbit_exchange:assert_equivalence`; measured on 3.10.8, 4.0.5 and 4.3.6.
 *
 * This needs the permission to configure, and a consumer may lack it. The first refusal ends the comparison, so that
 * the broker logs only one line.
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
      assumed: [],
    })),
    ...topology.exchanges.map(({ name, kind, pluginType, arguments: own, owner, assumedArguments: given = own }) => ({
      place: owner === "other" ? ("foreign" as const) : ("exchange" as const),
      name,
      ...declareExchange,
      fields: { ...common, exchange: name, type: pluginType ?? kind, internal: false, arguments: given },
      assumed: owner === "other" ? Object.keys(given) : [],
    })),
  ].filter(({ place, name }) => (place === "queue" ? found.queues : found.exchanges).get(name) === "there");
  const differingOnes: Diagnostic[] = [];
  const uncompared: string[] = [];
  // The permission is likely to end before the exchanges of others.
  const othersLast = [
    ...declarations.filter(({ place }) => place !== "foreign"),
    ...declarations.filter(({ place }) => place === "foreign"),
  ];
  for (const { place, name, method, answer, fields, assumed } of othersLast) {
    const pass = (keys: readonly string[]) => uncompared.push(...keys.map((key) => `the argument ${key} of ${name}`));
    try {
      await declareWhatIsThere(model, method, fields, answer);
      pass(assumed.filter((key) => key !== comparedArgument));
    } catch (cause) {
      const { code } = cause as { readonly code?: unknown };
      if (code === 403) return { differing: differingOnes, uncompared: ["arguments"] };
      // The first use of a resource shows that it has been deleted in the meantime.
      if (code === 404) continue;
      if (code !== 406) throw cause;
      // The broker compares the kind first, and may not know it at all. Other differences are its owner's business.
      const said = saidBy(cause);
      if (place !== "foreign" || /^type:|exchange type/.test(said)) differingOnes.push(differing(name, place, [said]));
      else if (assumed.includes(comparedArgument) && said.startsWith(`${comparedArgument}:`))
        differingOnes.push(differing(name, "foreign-arguments", [said]));
      // It names only the first difference, and compares arguments last.
      else pass(assumed);
    }
  }
  return { differing: differingOnes, uncompared };
}

/**
 * A passive declaration goes first, on the same channel and without waiting for its answer. If it fails, the broker
 * closes the channel and ignores the second one. So this never creates a missing resource. Source:
 * `rabbit_channel:handle_method`, state `closing`.
 */
async function declareWhatIsThere(model: ChannelModel, method: number, fields: object, answer: number): Promise<void> {
  const channel: Channel = await model.createChannel();
  channel.on("error", () => undefined);
  const { sendImmediately, rpc } = channel as unknown as Calling;
  sendImmediately.call(channel, method, { ...fields, passive: true, nowait: true });
  await rpc.call(channel, method, { ...fields, passive: false, nowait: false }, answer);
  await closeChannel(channel);
}

/**
 * The broker's words inside the library's message: `inequivalent arg 'x' for queue 'q' in vhost 'v': received 'a' but
 * current is 'b'`.
 */
function saidBy(cause: unknown): string {
  const text = String((cause as { readonly message?: unknown }).message);
  const [, key, wanted, found] =
    /inequivalent arg '(.*?)' for .*: received (.*) but current is (.*?)"?$/s.exec(text) ?? [];
  return key === undefined ? `the broker says: ${text}` : difference(key, String(wanted), String(found));
}
