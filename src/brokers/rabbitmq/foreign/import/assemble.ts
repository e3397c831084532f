import { type Diagnostic, diagnostic } from "../../../../diagnostics/diagnostic.ts";
import { type Deployment, type VirtualHost, placeOf } from "../deployment.ts";
import type { BrokerExchange, BrokerPolicy, BrokerQueue, QueueEnd } from "../../prove/semantics.ts";
import type { Drafts, DraftVirtualHost, Lifetime } from "./draft.ts";
import { count } from "../../../../contract/in-words.ts";
import { nameSome } from "../../../../foreign/finding.ts";
import {
  builtIn,
  exchangeKindOf,
  isMqttQos0,
  likelyKindOf,
  policyScopes,
  queueKindNamed,
  traceExchange,
} from "./kinds.ts";

/**
 * Assembles the parts of a source, with warnings for those that could not be taken as they are. Each name appears
 * once, every reference leads to something, and every kind has rules.
 *
 * @param isStack true for a stack, which may bind to exchanges that others made. Only an export or a broker ought to
 *   have every exchange
 */
export function assembleDeployment(brokerVersion: string | null, drafts: Drafts, isStack = false) {
  const warnings: Diagnostic[] = [];
  const virtualHosts = [...drafts.values()].map((draft) => assembleVirtualHost(draft, isStack, warnings));
  const deployment: Deployment = Object.freeze({ brokerVersion, virtualHosts: Object.freeze(virtualHosts) });
  return { deployment, warnings };
}

function assembleVirtualHost(draft: DraftVirtualHost, isStack: boolean, warnings: Diagnostic[]): VirtualHost {
  const queues = queuesOf(draft, warnings);
  const { exchanges, bindings } = routesOf(draft, new Set(queues.map(({ name }) => name)), isStack, warnings);
  const topology = Object.freeze({ exchanges, queues, bindings, policies: policiesOf(draft, warnings) });
  const { name, ownName, shovels } = draft;
  return Object.freeze({ name, ...(ownName === undefined ? {} : { ownName }), topology, shovels });
}

/**
 * The source's type takes precedence, then the argument, then the default of the virtual host. Source:
 * `rabbit_amqqueue:augment_declare_args/5`.
 */
function queuesOf(draft: DraftVirtualHost, warnings: Diagnostic[]): readonly BrokerQueue[] {
  const unknown: Named[] = [];
  const queues = firstOfEach(draft, "queues", draft.queues, warnings).map((queue): BrokerQueue => {
    const argument = queue.arguments["x-queue-type"];
    const given = queue.type ?? (typeof argument === "string" && argument !== "" ? argument : null);
    // The default type is for durable queues that are neither exclusive nor auto-delete.
    const type = given ?? (queueEnds(queue.lifetime).length === 0 ? draft.defaultQueueType : null) ?? "classic";
    const ends = queueEnds(isMqttQos0(type) ? { ...queue.lifetime, isExclusive: true } : queue.lifetime);
    const kind = queueKindNamed(type);
    if (kind === null) unknown.push({ type, name: queue.name });
    return {
      name: queue.name,
      kind: kind ?? "classic",
      arguments: queue.arguments,
      ...(ends.length === 0 ? {} : { goesWith: ends }),
    };
  });
  const note = "Redeliver does not know how such a queue handles a message, so a finding about it may be wrong";
  warnings.push(...warnAboutTypes(draft.name, "queue", unknown, "classic", note));
  return queues;
}

interface Named {
  readonly type: string;
  readonly name: string;
}

/** One warning for each type that has no rules. */
function warnAboutTypes(
  virtualHost: string,
  noun: "queue" | "exchange",
  unknown: readonly Named[],
  treatedAs: string,
  note: string,
): Diagnostic[] {
  return [...Map.groupBy(unknown, ({ type }) => type)].map(([type, resources]) => {
    const names = resources.map(({ name }) => name);
    return diagnostic("RD406", {
      path: placeOf(virtualHost, `${noun}s`, names[0]),
      message: `the ${noun} type ${JSON.stringify(type)} has no rules here; treated as ${treatedAs}: ${nameSome(names)}`,
      notes: [note],
    });
  });
}

function queueEnds({ isTransient, isAutoDelete, isExclusive }: Lifetime): QueueEnd[] {
  const ends = { restart: isTransient, "last-consumer": isAutoDelete, connection: isExclusive };
  return (Object.keys(ends) as QueueEnd[]).filter((end) => ends[end]);
}

/**
 * Exports leave out internal exchanges and exclusive queues, but keep the bindings to these queues. Source:
 * `rabbit_definitions:list_exchanges/0`, `fold_queues/3`, `list_bindings/0` (4.3.5).
 */
function routesOf(
  draft: DraftVirtualHost,
  queues: ReadonlySet<string>,
  isStack: boolean,
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
  if (leftOut.size > 0 && !isStack) warnings.push(warnAboutExchanges(draft.name, [...leftOut.values()]));
  return { exchanges, bindings };
}

function warnAboutQueues(virtualHost: string, names: readonly string[]): Diagnostic {
  return diagnostic("RD405", {
    path: placeOf(virtualHost, "queues", names[0]),
    message: `bindings lead to ${count(names.length, "queue")} that the source does not have; the audit leaves them out: ${nameSome(names)}`,
    notes: ["an export leaves out exclusive queues, but not the bindings to them"],
    help: "if these queues are not exclusive, export again; --url reads exclusive queues too",
  });
}

function warnAboutExchanges(virtualHost: string, exchanges: readonly BrokerExchange[]): Diagnostic {
  const names = exchanges.map(({ name }) => name);
  const kinds = new Intl.ListFormat("en").format(new Set(exchanges.map(({ kind }) => kind)));
  return diagnostic("RD405", {
    path: placeOf(virtualHost, "exchanges", names[0]),
    message: `bindings name ${count(names.length, "exchange")} that the source does not have; treated as ${kinds}, by their bindings: ${nameSome(names)}`,
    notes: ["an export leaves out internal exchanges, but not their bindings"],
    help: "read the broker with --url, which shows internal exchanges too",
  });
}

function exchangesOf(draft: DraftVirtualHost, warnings: Diagnostic[]): BrokerExchange[] {
  const unknown: Named[] = [];
  const exchanges = firstOfEach(draft, "exchanges", draft.exchanges, warnings)
    // The default exchange always exists, so a list need not contain it.
    .filter(({ name }) => name !== "")
    .map((exchange): BrokerExchange => {
      const { kind, isExact } = exchangeKindOf(exchange);
      if (!isExact) unknown.push(exchange);
      const { isTransient, isAutoDelete } = exchange.lifetime;
      const goesWith = [
        ...(isTransient ? ["restart" as const] : []),
        ...(isAutoDelete ? ["last-binding" as const] : []),
      ];
      return {
        name: exchange.name,
        kind,
        arguments: exchange.arguments,
        ...(goesWith.length === 0 ? {} : { goesWith }),
        ...(exchange.isInternal === true ? { isInternal: true as const } : {}),
        ...(exchange.type === kind ? {} : { pluginType: exchange.type }),
        ...(isExact ? {} : { isGuessed: true as const }),
      };
    });
  const note =
    "the audit routes a message by all of its bindings, while the plugin chooses among them, or chooses none";
  warnings.push(...warnAboutTypes(draft.name, "exchange", unknown, "fanout", note));
  const present = new Set(exchanges.map(({ name }) => name));
  for (const [name, kind] of Object.entries(builtIn)) {
    if (present.has(name)) continue;
    exchanges.push({ name, kind, arguments: {}, ...(name === traceExchange ? { isInternal: true } : {}) });
  }
  return exchanges;
}

function policiesOf(draft: DraftVirtualHost, warnings: Diagnostic[]): readonly BrokerPolicy[] {
  return draft.policies.flatMap((policy): readonly BrokerPolicy[] => {
    const applyTo = policyScopes.find((each) => each === policy.applyTo);
    if (applyTo !== undefined) return [{ ...policy, applyTo }];
    warnings.push(
      diagnostic("RD406", {
        path: placeOf(draft.name, "policies", policy.name),
        message: `the policy is for ${JSON.stringify(policy.applyTo)}, a kind that the audit does not know; it is left out`,
        value: policy.applyTo,
        notes: [`policies are known for ${policyScopes.join(", ")}`],
      }),
    );
    return [];
  });
}

/**
 * If several have the same name, the broker keeps the first. Source: `rabbit_definitions:add_queue_int/3`,
 * `add_exchange_int/3`.
 */
function firstOfEach<Resource extends { readonly name: string }>(
  draft: DraftVirtualHost,
  kind: "queues" | "exchanges",
  all: readonly Resource[],
  warnings: Diagnostic[],
): readonly Resource[] {
  const byName = Map.groupBy(all, ({ name }) => name);
  const isFirst = (each: Resource): boolean => byName.get(each.name)?.[0] === each;
  const names = [...new Set(all.filter((each) => !isFirst(each)).map(({ name }) => name))];
  if (names.length > 0) {
    warnings.push(
      diagnostic("RD404", {
        path: placeOf(draft.name, kind, names[0]),
        message: `${count(names.length, kind.slice(0, -1))} named more than once; only the first of each counts: ${nameSome(names)}`,
        notes: ["a broker that imports such a file keeps the first entry and skips the others"],
        help: "remove the entries that do not count",
      }),
    );
  }
  return all.filter(isFirst);
}
