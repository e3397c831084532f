import type { Channel, ChannelModel } from "amqplib";

import type { CompiledSystem } from "../../brokers/index.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison, SessionListener } from "../adapter.ts";
import type { RabbitmqConnection } from "./connection.ts";
import type { Contract, Operation } from "./contract.ts";
import type { Found, Presence } from "./compare.ts";
import { compareFound } from "./compare.ts";
import { readSettings } from "./read-settings.ts";

/**
 * Looks at what is deployed without changing anything: with passive declarations, and with the management API where its URL is given.
 *
 * @throws RefusedError
 */
export async function checkBroker(input: {
  readonly compiled: CompiledSystem<"rabbitmq">;
  readonly contract: Contract;
  readonly connection: RabbitmqConnection;
  readonly connect: () => Promise<ChannelModel>;
  readonly compileFor: Comparison<"rabbitmq">["compileFor"];
  readonly report: SessionListener["report"];
}): Promise<void> {
  const { compiled, contract, connection, compileFor, report } = input;
  const model = await input.connect().catch((cause: unknown) => {
    throw refused([noConnection(connection.url, cause)]);
  });
  model.on("error", () => undefined);
  try {
    const { managementUrl } = connection;
    const found: Found = {
      version: numberIn(model.connection.serverProperties.version),
      queues: await presenceOf(model, queuesOf(compiled, contract), (channel, name) => channel.checkQueue(name)),
      exchanges: await presenceOf(model, exchangesOf(contract), (channel, name) => channel.checkExchange(name)),
      settings:
        managementUrl === undefined ? null : await readSettings(managementUrl, connection.url, compiled.topology),
    };
    const { problems, events } = compareFound({ compiled, there: there(compileFor, contract, found.version) }, found);
    if (problems.length > 0) throw refused(problems);
    for (const event of events) report(event);
  } finally {
    await model.close().catch(() => undefined);
  }
}

/** Without what a build puts behind it, such as `-rc.1`. */
function numberIn(version: string): string {
  return /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? version;
}

/** What comes out for another version, with the strategy that is deployed. */
function there(
  compileFor: Comparison<"rabbitmq">["compileFor"],
  { strategy, instanceQueue }: Contract,
  version: string,
): CompiledSystem<"rabbitmq"> | null {
  const asked = instanceQueue === undefined ? { strategy: strategy as "staged" } : {};
  const result = compileFor({ broker: "rabbitmq", version, ...asked });
  return result.ok ? result.value : null;
}

/** Where its messages come from, wait and end; a queue that is missing would be found out by the first message that needs it. */
function queuesOf({ topology }: CompiledSystem<"rabbitmq">, { consumer }: Contract): readonly string[] {
  return topology.queues
    .filter((queue) => queue.consumer === consumer || queue.consumer === null)
    .map((queue) => queue.name);
}

/** The exchanges that the consumer itself publishes to, or binds its own queue to. */
function exchangesOf(contract: Contract): readonly string[] {
  const outcomes = [...Object.values(contract.outcomes), ...(contract.retryAfter ?? [])];
  const operations = outcomes.flatMap((outcome): readonly Operation[] =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
  const published = operations.flatMap((each) => (each.operation === "basic.publish" ? [each.exchange] : []));
  const bound = contract.instanceQueue?.bindings.map(({ exchange }) => exchange) ?? [];
  return [...new Set([...published, ...bound])].filter((name) => name !== "");
}

/** A passive declaration that fails takes its channel down with it, so each one has a channel of its own. */
async function presenceOf(
  model: ChannelModel,
  names: readonly string[],
  look: (channel: Channel, name: string) => Promise<unknown>,
): Promise<ReadonlyMap<string, Presence>> {
  const presences = new Map<string, Presence>();
  for (const name of names) {
    const channel = await model.createChannel();
    channel.on("error", () => undefined);
    try {
      await look(channel, name);
      presences.set(name, "there");
      await channel.close();
    } catch (cause) {
      presences.set(name, presenceIn(cause));
    }
  }
  return presences;
}

function presenceIn(cause: unknown): Presence {
  switch ((cause as { code?: unknown }).code) {
    case 404:
      return "missing";
    // From 4.3 on a passive declaration takes the permission to configure, which a consumer need not have.
    // Source: rabbitmq-server#16085.
    case 403:
      return "not shown";
    default:
      throw cause;
  }
}

/** What a library says may repeat the URL with its password, so the code alone is passed on. */
export function noConnection(url: string, cause: unknown): ReturnType<typeof diagnostic> {
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: "", port: "" };
  const host = port === "" ? hostname : `${hostname}:${port}`;
  const text = cause instanceof Error ? cause.message : "";
  const [, reply] = /\b(403|404|530|541)\b \((ACCESS-REFUSED|NOT-FOUND|NOT-ALLOWED|INTERNAL-ERROR)\)/.exec(text) ?? [];
  const code = (cause as { code?: unknown }).code;
  if (reply === "403" || reply === "530" || /ACCESS_REFUSED|NOT_ALLOWED|access to vhost/.test(text)) {
    return diagnostic("RD807", {
      path: "options.connection.url",
      message: `the broker at ${host} does not let this user in, or not into this virtual host`,
      help: "check the user, the password and the virtual host; rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ",
    });
  }
  return diagnostic("RD804", {
    path: "options.connection.url",
    message: `there is no connection to the broker at ${host}${typeof code === "string" ? ` (${code})` : ""}`,
    help: "check the host, the port, and whether the broker runs; once it has been connected, a consumer connects again by itself",
  });
}
