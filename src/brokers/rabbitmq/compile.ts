import type { Checked, Diagnostic } from "../../diagnostics/diagnostic.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { deepFreeze } from "../../declare/freeze.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../../plan/plan.ts";
import type { Compiled, Objection } from "../broker.ts";
import type { CompiledConsumer } from "../compile-consumer.ts";
import { chooseStrategy, compileConsumers } from "../compile-consumer.ts";
import type { RabbitmqTarget, StrategyName } from "./capabilities.ts";
import { capabilities, formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import { diagnoseClashes, diagnosePlan, refuseStrategy, warnings } from "./diagnose.ts";
import { everyInstance } from "./every-instance.ts";
import { consumerNames, sourceExchange, sourcesOf } from "./names.ts";
import { addBinding, addExchange } from "./resources.ts";
import { deferred } from "./strategies/deferred.ts";
import { native } from "./strategies/native.ts";
import { staged } from "./strategies/staged.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategies/strategy.ts";
import { waits } from "./strategies/waits.ts";
import type { Topology, TopologyDraft } from "./topology.ts";

export type RabbitmqStrategy = StrategyName | "every-instance";
export type RabbitmqCompiled = Compiled<Topology, Contract, RabbitmqStrategy>;

/** In the order in which `auto` tries them: what the broker does alone comes first. */
const strategies: readonly Strategy[] = [native, deferred, staged, waits];

/**
 * Compiles a plan into the topology that RabbitMQ runs, the contract of each consumer, and who keeps which promise.
 *
 * @returns frozen, JSON-serialisable data, the same bytes for the same input; or every reason why it is refused
 */
export function compileRabbitmq(plan: Plan, target: RabbitmqTarget): Checked<RabbitmqCompiled> {
  const problems = diagnosePlan(plan);
  const draft: TopologyDraft = { exchanges: [], policies: [], queues: [], bindings: [] };
  for (const [source, { kind }] of Object.entries(plan.sources)) {
    addExchange(draft, { name: sourceExchange(plan.system, source), role: "source", kind, consumer: null });
  }
  const shared = new Set<string>();
  const { diagnostics, contracts, promises, choices } = compileConsumers(plan.consumers, (consumer) =>
    compileConsumer(draft, plan.system, consumer, target, shared),
  );
  const topology: Topology = Object.freeze({
    broker: "rabbitmq",
    target: formatTarget(target),
    system: plan.system,
    exchanges: Object.freeze(draft.exchanges),
    policies: Object.freeze(draft.policies),
    queues: Object.freeze(draft.queues),
    bindings: Object.freeze(draft.bindings),
  });
  problems.push(...diagnostics, ...diagnoseClashes(topology));
  if (hasErrors(problems)) return { ok: false, diagnostics: problems };
  return {
    ok: true,
    warnings: [...problems, ...warnings(plan, target, capabilities[target.version], choices, topology)],
    value: Object.freeze({ target: topology.target, topology, contracts, promises, choices }),
  };
}

function compileConsumer(
  draft: TopologyDraft,
  system: string,
  plan: ConsumerPlan,
  target: RabbitmqTarget,
  shared: Set<string>,
): CompiledConsumer<Contract, RabbitmqStrategy> {
  if (plan.retry === null) return { diagnostics: [], result: everyInstance(system, plan, target) };
  const input: StrategyInput = {
    target,
    capabilities: capabilities[target.version],
    system,
    plan,
    retry: plan.retry,
    names: consumerNames(system, plan.consumer),
  };
  const chosen = chooseStrategy<StrategyName, StrategyInput, Strategy>(strategies, target.strategy, input);
  if ("objections" in chosen) return { diagnostics: [refusal(input, chosen.objections)], result: null };
  const { strategy, choice } = chosen;
  const output = strategy.build(draft, input, shared);
  const sources = sourcesOf(system, plan.from);
  for (const { exchange, routingKeys } of sources) {
    for (const routingKey of routingKeys) {
      addBinding(draft, { source: exchange, destination: input.names.workQueue, routingKey });
    }
  }
  const contract = contractOf(input, strategy, output, sources);
  return { diagnostics: [], result: { contract, promises: output.promises, choice } };
}

/** Says what is against each strategy, and whether a newer broker would keep what this one cannot. */
function refusal(input: StrategyInput, objections: ReadonlyMap<StrategyName, readonly Objection[]>): Diagnostic {
  const wanted = input.target.strategy;
  const newest: RabbitmqTarget = { ...input.target, version: "4.3", patch: null };
  const onNewest = { ...input, target: newest, capabilities: capabilities[newest.version] };
  const upgradeTo = strategies.some(
    (strategy) => (wanted === "auto" || strategy.name === wanted) && strategy.objections(onNewest).length === 0,
  )
    ? newest
    : null;
  return refuseStrategy(input.target, input.plan, objections, upgradeTo);
}

function contractOf(
  input: StrategyInput,
  strategy: Strategy,
  output: StrategyOutput,
  sources: Contract["sources"],
): Contract {
  const retry: RetryPlan = input.retry;
  return {
    consumer: input.plan.consumer,
    target: formatTarget(input.target),
    strategy: strategy.name,
    protocol: strategy.protocol,
    workQueue: input.names.workQueue,
    deadQueue: input.names.dead,
    attempts: Object.freeze(
      retry.attempts.map(({ attempt, delayMs, delayLatestMs }) =>
        Object.freeze(delayMs === delayLatestMs ? { attempt, delayMs } : { attempt, delayMs, delayLatestMs }),
      ),
    ),
    crashDeliveries: retry.crashDeliveries,
    maxDeliveries: output.maxDeliveries,
    outcomes: deepFreeze(output.outcomes),
    why: Object.freeze(output.why),
    ...(output.retryAfter === undefined ? {} : { retryAfter: deepFreeze(output.retryAfter) }),
    attemptNumber: deepFreeze(output.attemptNumber),
    sources: deepFreeze(sources),
    handlerTimeoutMs: input.plan.handlerTimeoutMs,
    permanentErrors: retry.permanentErrors,
  };
}
