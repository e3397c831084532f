import { isDeepStrictEqual } from "node:util";

import type { RabbitmqCompiled } from "../../compile/compile.ts";
import { type Diagnostic, diagnosed } from "../../../../diagnostics/diagnostic.ts";
import type { ConsumeEvent } from "../../../../consume/port/event.ts";
import { type FoundResources, differencesIn } from "../../compile/differences.ts";
import { problemsOf } from "./differences.ts";
import { missing } from "../queue-refusals.ts";

/** States that a queue or an exchange is there or missing, or why this is unknown. */
export type Presence = "there" | "missing" | { readonly notShown: string };

/** The deployed resources, as far as they are visible. */
export interface Found {
  /** The version that the broker reports: `4.3.6`. */
  readonly version: string;
  readonly queues: ReadonlyMap<string, Presence>;
  readonly exchanges: ReadonlyMap<string, Presence>;
  /** The contract publishes there, and the user may not. */
  readonly refusals: readonly Diagnostic[];
  /** The contract publishes there, and the check could not find out whether the user may. */
  readonly unasked: readonly string[];
  readonly settings: FoundResources | { readonly unreadable: string };
  /** The result of the check by AMQP alone. It counts if the settings cannot be read. */
  readonly made: Made;
}

/** The arguments of queues and exchanges, as far as the consumer's protocol shows them. */
export interface Made {
  /** The differences from the compiled resources. */
  readonly differing: readonly Diagnostic[];
  /** The resources that could not be compared. */
  readonly uncompared: readonly string[];
}

type Compiled = RabbitmqCompiled;

/**
 * Compares the found resources with the compiled ones: every reason not to start, and every resource that could not be
 * compared.
 */
export function compareFound(
  pair: CompiledPair,
  found: Found,
): { readonly problems: readonly Diagnostic[]; readonly events: readonly ConsumeEvent[] } {
  const { topology } = pair.compiled;
  const version = compareVersion(pair, found.version);
  // The version explains all other differences, so only its problem is reported.
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
      ...(isRead ? problemsOf(topology, differencesIn(topology, settings)) : made.differing),
    ],
    events: [
      ...version.events,
      ...notShownIn(queues),
      ...notShownIn(exchanges),
      ...unasked.map((name) => notCompared(`the permission to write to ${name}`, "the broker takes nothing for now")),
      ...(isRead
        ? [...settings.exchanges].flatMap(([name, { policy }]) =>
            policy === null ? [notCompared(`the policy of the exchange ${name}`, "it takes the tag policymaker")] : [],
          )
        : [notCompared(`${[...made.uncompared, "policies"].join(", ")} and bindings`, settings.unreadable)]),
    ],
  };
}

type Presences = ReadonlyMap<string, Presence>;

/** A complete list shows everything, also resources that AMQP does not show this user. */
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

/**
 * The compiled system for the target, and the one for the found version. The second is null if that version refuses it.
 */
export interface CompiledPair {
  readonly compiled: Compiled;
  readonly there: Compiled | null;
}

/**
 * A broker of another version is accepted if both versions compile to the same: equal queues, and a contract with equal
 * operations.
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
    problems: diagnosed("RD806", {
      path: "options.target",
      message: `compiled is for ${wanted}, strategy ${strategy}; the broker is RabbitMQ ${version}, where ${there === null ? "that strategy cannot keep the declaration, or which Redeliver does not know" : "other queues or other operations come out"}`,
      value: wanted,
      notes: [
        "versions count deliveries, delay and dead-letter differently, and ignore arguments that they do not know",
      ],
      help: `name ${found} as the target, compile and deploy, then start the consumer again`,
    }),
  };
}

/** Scopes and sentences may differ from version to version, and promises with them: `compile` has reported these. */
function whatMatters({ topology, contracts }: Compiled): unknown {
  return {
    queues: topology.queues,
    exchanges: topology.exchanges,
    bindings: topology.bindings,
    definitions: topology.policies.map(({ name, definition }) => ({ name, definition })),
    contracts: contracts.map(({ outcomes, retryAfter, attemptNumber }) => ({ outcomes, retryAfter, attemptNumber })),
  };
}
