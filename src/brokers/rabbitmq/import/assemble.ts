import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { Deployment, VirtualHost } from "../deployment.ts";
import { placeOf } from "../deployment.ts";
import type { BrokerExchange, BrokerPolicy, BrokerQueue } from "../semantics.ts";
import type { DraftPolicy, Drafts, DraftVirtualHost } from "./draft.ts";
import { nameSome } from "./draft.ts";
import { exchangeKindOf, likelyKindOf, policyScopes, queueKindNamed } from "./kinds.ts";

/**
 * Exchanges that every virtual host has, and that no export holds. The default exchange is not among them: routing knows it.
 * Source: `rabbit_vhost:declare_default_exchanges/2`, `rabbit_definitions:list_exchanges/0`.
 */
const builtIn = Object.freeze({
  "amq.direct": "direct",
  "amq.fanout": "fanout",
  "amq.headers": "headers",
  "amq.match": "headers",
  "amq.topic": "topic",
  "amq.rabbitmq.trace": "topic",
} as const);

/** What was put together, with warnings for what could not be taken as it stands. */
export interface Assembled {
  readonly deployment: Deployment;
  readonly warnings: readonly Diagnostic[];
}

/** Puts together what a source says: each thing once, nothing that refers to nothing, every kind one that has rules. */
export function assembleDeployment(brokerVersion: string | null, drafts: Drafts): Assembled {
  const warnings: Diagnostic[] = [];
  const virtualHosts = [...drafts.values()].map((draft) => assembleVirtualHost(draft, warnings));
  return { deployment: Object.freeze({ brokerVersion, virtualHosts: Object.freeze(virtualHosts) }), warnings };
}

function assembleVirtualHost(draft: DraftVirtualHost, warnings: Diagnostic[]): VirtualHost {
  const queues = queuesOf(draft, warnings);
  const { exchanges, bindings } = routesOf(draft, new Set(queues.map(({ name }) => name)), warnings);
  const topology = Object.freeze({ exchanges, queues, bindings, policies: policiesOf(draft, warnings) });
  return Object.freeze({ name: draft.name, topology });
}

/** The type that the source says, then the argument, then the default of the virtual host. Source: `rabbit_amqqueue:augment_declare_args/5`. */
function queuesOf(draft: DraftVirtualHost, warnings: Diagnostic[]): readonly BrokerQueue[] {
  const unknown = new Map<string, string[]>();
  const queues = firstOfEach(draft, "queues", draft.queues, warnings).map((queue): BrokerQueue => {
    const argument = queue.arguments["x-queue-type"];
    const given = queue.type ?? (typeof argument === "string" && argument !== "" ? argument : null);
    const type = given ?? (queue.takesDefaultType ? draft.defaultQueueType : null) ?? "classic";
    const kind = queueKindNamed(type);
    if (kind === null) addTo(unknown, type, queue.name);
    return { name: queue.name, kind: kind ?? "classic", arguments: queue.arguments };
  });
  for (const [type, names] of unknown) {
    warnings.push(
      diagnostic("RD406", {
        path: placeOf(draft.name, "queues", names[0]),
        message: `the queue type ${JSON.stringify(type)} has no rules here; treated as classic: ${nameSome(names)}`,
        notes: ["what such a queue does with a message is not known, so a finding about it may be wrong"],
      }),
    );
  }
  return queues;
}

/**
 * Exports leave out internal exchanges, and keep bindings to exclusive queues, which they leave out as well.
 * Source: `rabbit_definitions:list_exchanges/0`, `fold_queues/3`, `list_bindings/0` (4.3.5).
 */
function routesOf(
  draft: DraftVirtualHost,
  queues: ReadonlySet<string>,
  warnings: Diagnostic[],
): Pick<VirtualHost["topology"], "exchanges" | "bindings"> {
  const exchanges = exchangesOf(draft, warnings);
  const known = new Set(exchanges.map(({ name }) => name));
  const leftOut = new Map<string, BrokerExchange>();
  const missingQueues = new Set<string>();
  const bindings = draft.bindings.filter(({ destination, destinationKind }) => {
    if (destinationKind === "exchange" || queues.has(destination)) return true;
    missingQueues.add(destination);
    return false;
  });
  const bySource = Map.groupBy(draft.bindings, ({ source }) => source);
  for (const { source, destination, destinationKind } of bindings) {
    for (const name of destinationKind === "exchange" ? [destination, source] : [source]) {
      if (known.has(name)) continue;
      known.add(name);
      leftOut.set(name, { name, kind: likelyKindOf(bySource.get(name) ?? []), arguments: {}, isGuessed: true });
    }
  }
  exchanges.push(...leftOut.values());
  if (missingQueues.size > 0) warnings.push(warnAboutQueues(draft.name, [...missingQueues]));
  if (leftOut.size > 0) warnings.push(warnAboutExchanges(draft.name, [...leftOut.values()]));
  return { exchanges, bindings };
}

function warnAboutQueues(virtualHost: string, names: readonly string[]): Diagnostic {
  return diagnostic("RD405", {
    path: placeOf(virtualHost, "queues", names[0]),
    message: `bindings lead to ${count(names, "queue")} that the source does not hold; they are left out: ${nameSome(names)}`,
    notes: ["an export holds no exclusive queues, but the bindings to them"],
    help: "where these queues are not exclusive, export again; --url reads exclusive queues too",
  });
}

function warnAboutExchanges(virtualHost: string, exchanges: readonly BrokerExchange[]): Diagnostic {
  const names = exchanges.map(({ name }) => name);
  const kinds = new Intl.ListFormat("en").format(new Set(exchanges.map(({ kind }) => kind)));
  return diagnostic("RD405", {
    path: placeOf(virtualHost, "exchanges", names[0]),
    message: `bindings name ${count(names, "exchange")} that the source does not hold; treated as ${kinds}, by their bindings: ${nameSome(names)}`,
    notes: ["an export holds no internal exchanges, but the bindings of them"],
    help: "read the broker with --url, which tells internal exchanges too",
  });
}

function exchangesOf(draft: DraftVirtualHost, warnings: Diagnostic[]): BrokerExchange[] {
  const unknown = new Map<string, string[]>();
  const exchanges = firstOfEach(draft, "exchanges", draft.exchanges, warnings)
    // The default exchange is there without being listed.
    .filter(({ name }) => name !== "")
    .map((exchange): BrokerExchange => {
      const { kind, isExact } = exchangeKindOf(exchange);
      if (!isExact) addTo(unknown, exchange.type, exchange.name);
      const made = { name: exchange.name, kind, arguments: exchange.arguments };
      return isExact ? made : { ...made, isGuessed: true };
    });
  for (const [type, names] of unknown) {
    warnings.push(
      diagnostic("RD406", {
        path: placeOf(draft.name, "exchanges", names[0]),
        message: `the exchange type ${JSON.stringify(type)} has no rules here; treated as fanout: ${nameSome(names)}`,
        notes: [
          "a message is taken to go by every one of its bindings, while the plugin chooses among them, and may choose none",
        ],
      }),
    );
  }
  const present = new Set(exchanges.map(({ name }) => name));
  for (const [name, kind] of Object.entries(builtIn)) {
    if (!present.has(name)) exchanges.push({ name, kind, arguments: {} });
  }
  return exchanges;
}

function policiesOf(draft: DraftVirtualHost, warnings: Diagnostic[]): readonly BrokerPolicy[] {
  const unknown: DraftPolicy[] = [];
  const policies = draft.policies.flatMap((policy): readonly BrokerPolicy[] => {
    const applyTo = policyScopes.find((each) => each === policy.applyTo);
    if (applyTo !== undefined) return [{ ...policy, applyTo }];
    unknown.push(policy);
    return [];
  });
  for (const { name, applyTo } of unknown) {
    warnings.push(
      diagnostic("RD406", {
        path: placeOf(draft.name, "policies", name),
        message: `the policy is for ${JSON.stringify(applyTo)}, which has no rules here; it is left out`,
        value: applyTo,
        notes: [`policies are known for ${policyScopes.join(", ")}`],
      }),
    );
  }
  return policies;
}

/** Of things with one name the broker keeps the one that it met first. Source: `rabbit_definitions:add_queue_int/3`, `add_exchange_int/3`. */
function firstOfEach<Named extends { readonly name: string }>(
  draft: DraftVirtualHost,
  kind: "queues" | "exchanges",
  all: readonly Named[],
  warnings: Diagnostic[],
): readonly Named[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  const first = all.filter(({ name }) => {
    if (seen.has(name)) again.add(name);
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
  if (again.size > 0) {
    const names = [...again];
    warnings.push(
      diagnostic("RD404", {
        path: placeOf(draft.name, kind, names[0]),
        message: `${count(names, kind.slice(0, -1))} named more than once; the first of each counts: ${nameSome(names)}`,
        notes: ["a broker that imports such a file keeps what it met first and passes over the rest"],
        help: "remove the entries that do not count",
      }),
    );
  }
  return first;
}

function addTo(groups: Map<string, string[]>, key: string, name: string): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [name]);
  else group.push(name);
}

function count(names: readonly string[], noun: string): string {
  return `${names.length} ${noun}${names.length === 1 ? "" : "s"}`;
}
