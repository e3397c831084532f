import { type Checked, type Diagnostic, accepted, hasErrors } from "../../../diagnostics/diagnostic.ts";
import { deepFreeze } from "../../../declare/freeze.ts";
import { sharedDeadName, sharedPrefix } from "../../../plan/names.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../../../plan/plan.ts";
import type { Compiled } from "../../broker.ts";
import { type Objections, chooseStrategy } from "../../../contract/choose-strategy.ts";
import { type CompiledConsumer, compileConsumers } from "../../../contract/compile-consumer.ts";
import { withOwnStrategy } from "../../../contract/own-strategy.ts";
import { withOwnDeadQueue } from "../../../contract/shared-dead-queue.ts";
import { sharedQueues } from "../../../contract/shared-problems.ts";
import { type RabbitmqTarget, type StrategyName, capabilities, capabilitiesOf, formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import { diagnoseClashes, diagnosePlan, refuseConsumer, warnings } from "./diagnose.ts";
import { everyInstance } from "./every-instance.ts";
import { consumerNames, deadExchange, defaultExchange, sourceExchange, sourcesOf } from "./names.ts";
import { lengthLimitsOf } from "./queue-arguments.ts";
import { addBinding, addExchange } from "./resources.ts";
import { deferred } from "./strategies/deferred.ts";
import { native } from "./strategies/native.ts";
import { staged } from "./strategies/staged.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategies/strategy.ts";
import { waits } from "./strategies/waits.ts";
import type { Topology, TopologyDraft } from "./topology.ts";

export type RabbitmqStrategy = StrategyName | "every-instance";
export type RabbitmqCompiled = Compiled<Topology, Contract, RabbitmqStrategy>;

/** In the order that `auto` tries them. Strategies that the broker carries out alone come first. */
const strategies: readonly Strategy[] = [native, deferred, staged, waits];

/**
 * Compiles a plan into the topology that RabbitMQ runs, the contract of each consumer, and the keeper of each promise.
 *
 * @returns frozen, JSON-serialisable data, the same bytes for the same input; or every reason to refuse it
 */
export function compileRabbitmq(plan: Plan, target: RabbitmqTarget): Checked<RabbitmqCompiled> {
  const problems = diagnosePlan(plan, target);
  const draft: TopologyDraft = { exchanges: [], policies: [], queues: [], bindings: [] };
  for (const [source, { kind: declared, exchangeType: pluginType, owner, ...given }] of Object.entries(plan.sources)) {
    const assumed = given.arguments === undefined ? {} : { assumedArguments: given.arguments };
    const foreign = owner === "other" ? { owner, ...assumed } : {};
    const made = declared === "opaque" ? { kind: "fanout" as const, pluginType } : { kind: declared };
    addExchange(draft, { name: sourceExchange(plan, source), role: "source", ...made, ...foreign });
  }
  const prefix = sharedPrefix(plan);
  const sharedNames = new Set<string>();
  const { diagnostics, contracts, promises, choices } = compileConsumers(plan.consumers, (consumer) =>
    compileConsumer(
      draft,
      plan,
      consumer,
      withOwnDeadQueue(withOwnStrategy(target, consumer.consumer), consumer),
      sharedNames,
    ),
  );
  const topology: Topology = deepFreeze({
    broker: "rabbitmq",
    target: formatTarget(target),
    system: plan.system,
    ...(prefix === plan.system ? {} : { prefix }),
    ...draft,
  });
  const shared = sharedQueues(plan, (consumer) => consumerNames(plan, consumer).workQueue);
  problems.push(...diagnostics, ...(shared.length > 0 ? shared : diagnoseClashes(plan, topology)));
  if (hasErrors(problems)) return { ok: false, diagnostics: problems };
  return accepted(deepFreeze({ target: topology.target, topology, contracts, promises, choices }), [
    ...problems,
    ...warnings(plan, target, capabilities[target.version], choices, topology),
  ]);
}

function compileConsumer(
  draft: TopologyDraft,
  whole: Plan,
  plan: ConsumerPlan,
  target: RabbitmqTarget,
  shared: Set<string>,
): CompiledConsumer<Contract, RabbitmqStrategy> {
  if (plan.retry === null) return { diagnostics: [], result: everyInstance(whole, plan, target) };
  const input: StrategyInput = {
    target,
    capabilities: capabilitiesOf(target),
    prefix: sharedPrefix(whole),
    plan,
    retry: plan.retry,
    names: {
      ...consumerNames(whole, plan),
      ...(target.deadQueue === "shared" ? { dead: sharedDeadName(whole, deadExchange(sharedPrefix(whole))) } : {}),
    },
  };
  const chosen = chooseStrategy<StrategyName, StrategyInput, Strategy>(strategies, target.strategy, input);
  if ("objections" in chosen) return { diagnostics: [refusal(input, chosen.objections)], result: null };
  const { strategy, choice } = chosen;
  const output = strategy.build(draft, input, shared);
  const sources = sourcesOf(whole, plan);
  for (const { exchange, routingKeys, ...headers } of sources) {
    for (const routingKey of routingKeys) {
      addBinding(draft, { source: exchange, destination: input.names.workQueue, routingKey, ...headers });
    }
  }
  const direct = [{ exchange: defaultExchange, routingKeys: [input.names.workQueue] }];
  const contract = contractOf(input, strategy, output, sources.length === 0 ? direct : sources);
  return { diagnostics: [], result: { contract, promises: output.promises, choice } };
}

/** Names the objections to each strategy, and tells if a newer broker would keep the broken promise. */
function refusal(input: StrategyInput, objections: Objections<StrategyName>): Diagnostic {
  const wanted = input.target.strategy;
  const newest: RabbitmqTarget = { ...input.target, version: "4.3", patch: null };
  const onNewest = { ...input, target: newest, capabilities: capabilitiesOf(newest) };
  const upgradeTo = strategies.some(
    (strategy) => (wanted === "auto" || strategy.name === wanted) && strategy.objections(onNewest).length === 0,
  )
    ? newest
    : null;
  return refuseConsumer(input.target, input.plan, objections, upgradeTo);
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
    ...(retry.park === undefined ? {} : { parkedQueue: input.names.parked }),
    attempts: retry.attempts.map(({ attempt, delayMs, delayLatestMs }) =>
      delayMs === delayLatestMs ? { attempt, delayMs } : { attempt, delayMs, delayLatestMs },
    ),
    crashDeliveries: retry.crashDeliveries,
    maxDeliveries: output.maxDeliveries,
    outcomes: output.outcomes,
    why: output.why,
    ...(output.retryAfter === undefined ? {} : { retryAfter: output.retryAfter }),
    attemptNumber: output.attemptNumber,
    sources,
    ...(lengthLimitsOf(input.plan).length === 0 ? {} : { refusesWhenFull: true as const }),
    handlerTimeoutMs: input.plan.handlerTimeoutMs,
    permanentErrors: retry.permanentErrors,
  };
}
