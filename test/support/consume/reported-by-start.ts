import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";

import { compile, type CompiledSystem, type Contract, type Diagnostic, RefusedError } from "../../../src/index.ts";
import { loadAdapter, prepare } from "../../../src/consume/consume.ts";
import { compareFound, type Found } from "../../../src/brokers/rabbitmq/run/deployed/compare.ts";
import { noAnswer, queueRefused } from "../../../src/brokers/rabbitmq/run/queue-refusals.ts";
import { noConnection } from "../../../src/brokers/rabbitmq/run/refusals.ts";
import { checked } from "../examples.ts";

interface Start {
  /** A file of `examples`; the default is `shop.yaml`. */
  readonly declaration?: string;
  readonly consumer: string;
  readonly options?: object;
  readonly amqplib?: "installed" | "not installed";
  /** A word for its behaviour or its kind. */
  readonly broker: string | BrokerFound;
}

interface BrokerFound {
  readonly version: string;
  readonly missing?: readonly string[];
  /** Queues and exchanges without any binding to them. */
  readonly unbound?: readonly string[];
  readonly policies?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A broker's permanent refusals, each with its own code or words. */
const refusing: Readonly<Record<string, (contract: Contract) => Diagnostic>> = {
  "has given the queue to another alone": (contract) =>
    diagnosticIn(
      queueRefused(contract, "shop.billing", "/", Object.assign(new Error("RESOURCE_LOCKED"), { code: 405 })),
    ),
  "gives one channel": () =>
    noConnection(
      url,
      new Error("530 - number of channels opened for user 'guest' has reached the maximum allowed user limit of (1)"),
    ),
  "has no leader of the queue": () => noAnswer("shop.billing", 30_000),
};

const examples = resolve(import.meta.dirname, "../../../examples");
const url = "amqp://guest:guest@localhost:5672";

/** The diagnostics of a consumer that starts in the situation of an example. */
export async function reportedByStart(text: string): Promise<readonly Diagnostic[]> {
  const { declaration = "shop.yaml", consumer, options, amqplib, broker } = parse(text) as Start;
  const shop = checked(parse(readFileSync(resolve(examples, declaration), "utf8")));
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  const prepared = prepare(shop, consumer, { target, connection: { url }, ...options });
  if (!prepared.ok) return prepared.diagnostics;
  try {
    const load = amqplib === "not installed" ? moduleNotFound : prepared.value.library.load;
    await loadAdapter({ name: prepared.value.library.name, load });
  } catch (error) {
    if (error instanceof RefusedError) return error.diagnostics;
    throw error;
  }
  if (broker === "nothing answers") return [noConnection(url, Object.assign(new Error(), { code: "ECONNREFUSED" }))];
  if (broker === "refuses the user") {
    return [noConnection(url, new Error("Handshake terminated by server: 403 (ACCESS-REFUSED)"))];
  }
  const compiled = prepared.value.compiled as CompiledSystem<"rabbitmq">;
  const [contract = expect.unreachable()] = compiled.contracts;
  if (typeof broker === "string") return [refusing[broker]?.(contract) ?? expect.unreachable(broker)];
  const there = compile(shop, { broker: "rabbitmq", version: broker.version, strategy: "staged" });
  const pair = { compiled, there: there.ok ? there.value : null };
  return compareFound(pair, foundAs(compiled, broker)).problems;
}

function diagnosticIn(error: unknown): Diagnostic {
  const first = error instanceof RefusedError ? error.diagnostics[0] : undefined;
  return first ?? expect.unreachable();
}

function moduleNotFound(): Promise<never> {
  return Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
}

/** Everything as compiled, except for the example's changes. */
function foundAs(
  { topology }: CompiledSystem<"rabbitmq">,
  { version, missing, unbound, policies }: BrokerFound,
): Found {
  const policyOf = (name: string): Readonly<Record<string, unknown>> => ({
    ...topology.policies.find((policy) => policy.name === name)?.definition,
    ...policies?.[name],
  });
  return {
    version,
    queues: new Map(topology.queues.map(({ name }) => [name, missing?.includes(name) ? "missing" : "there"])),
    exchanges: new Map(topology.exchanges.map(({ name }) => [name, "there"])),
    refusals: [],
    unasked: [],
    made: { differing: [], uncompared: [] },
    settings: {
      queues: new Map(
        topology.queues.map((queue) => [queue.name, { arguments: queue.arguments, policy: policyOf(queue.name) }]),
      ),
      exchanges: new Map(
        topology.exchanges.map(({ name, kind, arguments: given }) => [
          name,
          { kind, arguments: given, policy: policyOf(name) },
        ]),
      ),
      bindings: topology.bindings.filter(({ destination }) => !(unbound ?? []).includes(destination)),
    },
  };
}
