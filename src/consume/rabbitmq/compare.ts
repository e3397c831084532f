import { isDeepStrictEqual } from "node:util";

import type { CompiledSystem } from "../../brokers/index.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { ConsumeEvent } from "../event.ts";
import type { Binding } from "./compare-bindings.ts";
import { compareBindings } from "./compare-bindings.ts";
import { differences } from "./differences.ts";
import { missing } from "./queue-refusals.ts";

/** What could be seen of a queue or an exchange; why, where it could not. */
export type Presence = "there" | "missing" | { readonly notShown: string };

/** What is deployed, as far as it could be seen. */
export interface Found {
  /** What the broker says it is: `4.3.6`. */
  readonly version: string;
  readonly queues: ReadonlyMap<string, Presence>;
  readonly exchanges: ReadonlyMap<string, Presence>;
  /** Where the contract publishes to, and the user may not. */
  readonly refusals: readonly Diagnostic[];
  /** Where the contract publishes to, and it could not be found out whether the user may. */
  readonly unasked: readonly string[];
  readonly settings: FoundSettings | { readonly unreadable: string };
  /** What AMQP itself tells, for where the settings cannot be read. */
  readonly made: Made;
}

/** What queues and exchanges were made with, as far as the protocol of the consumer tells. */
export interface Made {
  /** What differs from what was compiled. */
  readonly differing: readonly Diagnostic[];
  /** What could not be compared. */
  readonly uncompared: readonly string[];
}

/** What the management API says of what was compiled; a name without an entry is not there. */
export interface FoundSettings {
  readonly queues: ReadonlyMap<string, QueueSettings>;
  readonly exchanges: ReadonlyMap<string, ExchangeSettings>;
  /** What leads out of these exchanges, or into these queues; that of others may be left out. */
  readonly bindings: readonly Binding[];
}

export interface QueueSettings {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The values of the policy in force. */
  readonly policy: Readonly<Record<string, unknown>>;
}

export interface ExchangeSettings {
  readonly kind: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

type Compiled = CompiledSystem<"rabbitmq">;

/** Compares what was found with what was compiled: every reason not to begin, and what could not be compared. */
export function compareFound(
  pair: CompiledPair,
  found: Found,
): { readonly problems: readonly Diagnostic[]; readonly events: readonly ConsumeEvent[] } {
  const { topology } = pair.compiled;
  const version = compareVersion(pair, found.version);
  // What a broker of another version has, and lacks, follows from that.
  if (version.problems.length > 0) return { problems: version.problems, events: [] };
  const { settings, made, refusals, unasked } = found;
  const isRead = !("unreadable" in settings);
  const queues = isRead ? withListed(found.queues, settings.queues, topology.queues) : found.queues;
  const exchanges = isRead ? withListed(found.exchanges, settings.exchanges, topology.exchanges) : found.exchanges;
  return {
    problems: [
      ...missingIn("queue", queues),
      ...missingIn("exchange", exchanges),
      ...refusals,
      ...(isRead
        ? [...compareSettings(pair.compiled, settings), ...compareBindings(topology, settings)]
        : made.differing),
    ],
    events: [
      ...version.events,
      ...notShownIn(queues),
      ...notShownIn(exchanges),
      ...unasked.map((name) => notCompared(`the permission to write to ${name}`, "the broker takes nothing for now")),
      ...(isRead
        ? []
        : [notCompared(`${[...made.uncompared, "policies"].join(", ")} and bindings`, settings.unreadable)]),
    ],
  };
}

type Presences = ReadonlyMap<string, Presence>;

/** A list that could be read shows everything, also what AMQP does not show this user. */
function withListed(
  seen: Presences,
  listed: ReadonlyMap<string, unknown>,
  names: readonly { readonly name: string }[],
): Presences {
  return new Map(
    names.map(({ name }) => [name, listed.has(name) && seen.get(name) !== "missing" ? "there" : "missing"]),
  );
}

function notShownIn(presences: Presences): readonly ConsumeEvent[] {
  return [...presences].flatMap(([name, presence]) =>
    typeof presence === "string" ? [] : [notCompared(name, presence.notShown)],
  );
}

function notCompared(what: string, because: string): ConsumeEvent {
  return { kind: "not-compared", what, because };
}

function missingIn(what: "queue" | "exchange", presences: Presences): readonly Diagnostic[] {
  return [...presences].flatMap(([name, presence]) => (presence === "missing" ? [missing(what, name)] : []));
}

/** What was compiled for the target, and the same for the version that was found; null where nothing comes out for it. */
export interface CompiledPair {
  readonly compiled: Compiled;
  readonly there: Compiled | null;
}

/**
 * A broker of another version than the target will do where the same comes out for it: the same queues, and a contract with the same operations.
 */
function compareVersion(
  { compiled, there }: CompiledPair,
  version: string,
): { readonly problems: readonly Diagnostic[]; readonly events: readonly ConsumeEvent[] } {
  const { target: wanted } = compiled;
  const found = `rabbitmq@${version}`;
  if (there !== null && isDeepStrictEqual(whatMatters(compiled), whatMatters(there))) {
    const isMeant = found === wanted || found.startsWith(`${wanted}.`);
    return { problems: [], events: isMeant ? [] : [{ kind: "other-version", target: wanted, found: version }] };
  }
  const strategy = compiled.contracts[0]?.strategy ?? "";
  return {
    events: [],
    problems: [
      diagnostic("RD806", {
        path: "options.target",
        message: `compiled is for ${wanted}, strategy ${strategy}; the broker is RabbitMQ ${version}, where ${there === null ? "that strategy cannot keep what is declared, or which Redeliver does not know" : "other queues or other operations come out"}`,
        value: wanted,
        notes: [
          "versions count deliveries, delay and dead-letter differently, and ignore arguments that they do not know",
        ],
        help: `name ${found} as the target, deploy what comes out for it, then start the consumer again`,
      }),
    ],
  };
}

/** Scopes and sentences may differ from version to version, and promises with them: `compile` has told about these. */
function whatMatters({ topology, contracts }: Compiled): unknown {
  return {
    queues: topology.queues,
    exchanges: topology.exchanges,
    bindings: topology.bindings,
    definitions: topology.policies.map(({ name, definition }) => ({ name, definition })),
    contracts: contracts.map(({ outcomes, retryAfter, attemptNumber }) => ({ outcomes, retryAfter, attemptNumber })),
  };
}

/** What was read is the value of an entry; what the API does not show is left to the passive declarations. */
function compareSettings({ topology }: Compiled, settings: FoundSettings): readonly Diagnostic[] {
  const policies = new Map(topology.policies.map((policy) => [policy.name, policy.definition]));
  const queues = topology.queues.flatMap(({ name, arguments: wanted }) => {
    const found = settings.queues.get(name);
    return found === undefined
      ? []
      : [
          ...differences(name, "queue", wanted, found.arguments),
          ...differences(name, "policy", policies.get(name) ?? {}, found.policy),
        ];
  });
  const exchanges = topology.exchanges.flatMap(({ name, kind, arguments: wanted }) => {
    const found = settings.exchanges.get(name);
    return found === undefined
      ? []
      : differences(name, "exchange", { type: kind, ...wanted }, { type: found.kind, ...found.arguments });
  });
  return [...queues, ...exchanges];
}
