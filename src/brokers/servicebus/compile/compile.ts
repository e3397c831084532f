import { deepFreeze } from "../../../declare/freeze.ts";
import { type Checked, accepted, hasErrors } from "../../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import type { Compiled } from "../../broker.ts";
import { type CompiledConsumer, compileConsumers } from "../../../contract/compile-consumer.ts";
import { targetForConsumer } from "./target.ts";
import { unknownOwners } from "../../../contract/own-strategy.ts";
import { chooseStrategy } from "../../../contract/choose-strategy.ts";
import { sharedQueues } from "../../../contract/shared-problems.ts";
import { type ServicebusTarget, type StrategyName, formatTarget, servicebusLimits } from "./capabilities.ts";
import { type Contract, sdkCalls } from "./contract.ts";
import { diagnoseClashes, diagnoseConsumer, diagnoseNames } from "./diagnose.ts";
import { refuseStrategy } from "../../../contract/refuse-strategy.ts";
import { diagnoseQuotas } from "./quotas.ts";
import { type TopologyDraft, addConsumer, addShared, placesOf, sourcesOf } from "./resources.ts";
import { immediate } from "./strategies/immediate.ts";
import { scheduled } from "./strategies/scheduled.ts";
import { type Strategy, type StrategyInput, type StrategyOutput, lockRenewalMs } from "./strategies/strategy.ts";
import { ttlTier } from "./strategies/ttl-tier.ts";
import type { ServicebusTopology } from "./topology.ts";
import { consumerWarnings } from "./warnings.ts";

export type ServicebusCompiled = Compiled<ServicebusTopology, Contract, StrategyName>;

/** In the order that `auto` tries them. Strategies that Service Bus carries out alone come first. */
const strategies: readonly Strategy[] = [immediate, scheduled, ttlTier];

/**
 * Compiles a plan into the queues, topics, subscriptions and rules of a namespace. The result also has the contract of
 * each consumer and the keeper of each promise.
 *
 * @returns frozen, JSON-serialisable data, the same bytes for the same input; or every reason to refuse it
 */
export function compileServicebus(plan: Plan, target: ServicebusTarget): Checked<ServicebusCompiled> {
  const problems = [
    ...diagnoseNames(plan),
    ...unknownOwners(plan, ["target", "duplicates"], target.ownDuplicateDetectionMs ?? {}),
  ];
  const draft: TopologyDraft = { queues: [], topics: [], subscriptions: [], alerts: [] };
  addShared(draft, plan, target);
  const { diagnostics, contracts, promises, choices } = compileConsumers(plan.consumers, (consumer) =>
    compileConsumer(draft, plan, consumer, targetForConsumer(target, consumer.consumer)),
  );
  const topology: ServicebusTopology = deepFreeze({
    broker: "servicebus",
    target: formatTarget(target),
    system: plan.system,
    ...draft,
  });
  const shared = sharedQueues(plan, (consumer) => {
    const { inSubscription, workQueue } = placesOf(plan, consumer, target);
    return inSubscription ? null : workQueue.toLowerCase();
  });
  const clashes = shared.length > 0 ? shared : diagnoseClashes(plan, topology);
  problems.push(...diagnostics, ...clashes, ...diagnoseQuotas(topology, target));
  if (hasErrors(problems)) return { ok: false, diagnostics: problems };
  return accepted(deepFreeze({ target: topology.target, topology, contracts, promises, choices }), problems);
}

function compileConsumer(
  draft: TopologyDraft,
  all: Plan,
  plan: ConsumerPlan,
  target: ServicebusTarget,
): CompiledConsumer<Contract, StrategyName> {
  const common = diagnoseConsumer(plan, all, target);
  // A problem that no strategy could solve is reported once, and not again as an objection of each.
  if (plan.retry === null || hasErrors(common)) return { diagnostics: common, result: null };
  const input: StrategyInput = { target, plan, retry: plan.retry, ...placesOf(all, plan, target) };
  const chosen = chooseStrategy<StrategyName, StrategyInput, Strategy>(strategies, target.strategy, input);
  if ("objections" in chosen) {
    const refusal = refuseStrategy(plan.consumer, formatTarget(target), target.strategy, chosen.objections);
    return { diagnostics: [...common, refusal], result: null };
  }
  const { strategy, choice } = chosen;
  const output = strategy.build(input);
  addConsumer(draft, all, input, output);
  return {
    diagnostics: [...common, ...consumerWarnings(input, strategy.name)],
    result: {
      contract: contractOf(input, strategy, output, sourcesOf(all, plan, target)),
      promises: output.promises,
      choice,
    },
  };
}

function contractOf(
  input: StrategyInput,
  strategy: Strategy,
  output: StrategyOutput,
  sources: Contract["sources"],
): Contract {
  const { plan, retry, target, sessions } = input;
  return {
    consumer: plan.consumer,
    target: formatTarget(target),
    strategy: strategy.name,
    protocol: "servicebus",
    workQueue: input.workQueue,
    deadQueue: input.deadQueue,
    ...(retry.park === undefined ? {} : { parkedQueue: input.parkedQueue }),
    attempts: output.attempts,
    crashDeliveries: output.crashDeliveries,
    maxDeliveries: output.maxDeliveries,
    outcomes: output.outcomes,
    why: output.why,
    ...(output.retryAfter === undefined ? {} : { retryAfter: output.retryAfter }),
    attemptNumber: output.attemptNumber,
    longestMessageId: servicebusLimits.messageIdLength,
    mostPropertiesBytes: servicebusLimits.propertiesBytes,
    receive: { mode: "peekLock", sessions, lockRenewalMs: lockRenewalMs(input), lockMs: target.lockMs },
    calls: sdkCalls,
    sources,
    handlerTimeoutMs: plan.handlerTimeoutMs,
    permanentErrors: retry.permanentErrors,
  };
}
