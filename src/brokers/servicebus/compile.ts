import { deepFreeze } from "../../declare/freeze.ts";
import type { Checked, Diagnostic } from "../../diagnostics/diagnostic.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan } from "../../plan/plan.ts";
import type { Compiled, KeptPromise, StrategyChoice } from "../broker.ts";
import type { ServicebusTarget, StrategyName } from "./capabilities.ts";
import { formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import { sdkCalls } from "./contract.ts";
import { consumerWarnings, diagnoseClashes, diagnoseConsumer, diagnoseNames, refuseStrategy } from "./diagnose.ts";
import { diagnoseQuotas } from "./quotas.ts";
import type { TopologyDraft } from "./resources.ts";
import { addConsumer, addShared, placesOf, sourcesOf } from "./resources.ts";
import { immediate } from "./strategies/immediate.ts";
import { scheduled } from "./strategies/scheduled.ts";
import type { Strategy, StrategyInput, StrategyOutput } from "./strategies/strategy.ts";
import { lockRenewalMs } from "./strategies/strategy.ts";
import { ttlTier } from "./strategies/ttl-tier.ts";
import type { ServicebusTopology } from "./topology.ts";

export type ServicebusCompiled = Compiled<ServicebusTopology, Contract, StrategyName>;

/** In the order in which `auto` tries them: what Service Bus does alone comes first. */
const strategies: readonly Strategy[] = [immediate, scheduled, ttlTier];

/**
 * Compiles a plan into the queues, topics, subscriptions and rules of a namespace, the contract of each consumer, and who keeps which
 * promise.
 *
 * @returns frozen, JSON-serialisable data, the same bytes for the same input; or every reason why it is refused
 */
export function compileServicebus(plan: Plan, target: ServicebusTarget): Checked<ServicebusCompiled> {
  const problems = diagnoseNames(plan);
  const draft: TopologyDraft = { queues: [], topics: [], subscriptions: [], alerts: [] };
  addShared(draft, plan, target);
  const contracts: Contract[] = [];
  const promises: KeptPromise[] = [];
  const choices: StrategyChoice<StrategyName>[] = [];
  for (const consumer of plan.consumers) {
    const compiled = compileConsumer(draft, plan, consumer, target);
    problems.push(...compiled.diagnostics);
    if (compiled.result === null) continue;
    contracts.push(compiled.result.contract);
    promises.push(...compiled.result.promises);
    choices.push(compiled.result.choice);
  }
  const topology: ServicebusTopology = deepFreeze({
    broker: "servicebus",
    target: formatTarget(target),
    system: plan.system,
    ...draft,
  });
  problems.push(...diagnoseClashes(topology), ...diagnoseQuotas(topology, target));
  if (hasErrors(problems)) return { ok: false, diagnostics: problems };
  return {
    ok: true,
    warnings: problems,
    value: deepFreeze({ target: topology.target, topology, contracts, promises, choices }),
  };
}

interface CompiledConsumer {
  readonly diagnostics: readonly Diagnostic[];
  /** Null where it is refused. */
  readonly result: {
    readonly contract: Contract;
    readonly promises: readonly KeptPromise[];
    readonly choice: StrategyChoice<StrategyName>;
  } | null;
}

function compileConsumer(
  draft: TopologyDraft,
  all: Plan,
  plan: ConsumerPlan,
  target: ServicebusTarget,
): CompiledConsumer {
  const common = diagnoseConsumer(plan, all, target);
  // What no strategy could change is said once, and not again as an objection of each.
  if (plan.retry === null || hasErrors(common)) return { diagnostics: common, result: null };
  const input: StrategyInput = { target, plan, retry: plan.retry, ...placesOf(all, plan, target) };
  const choice = chooseStrategy(input);
  if ("refusal" in choice) return { diagnostics: [...common, choice.refusal], result: null };
  const { strategy, passedOver } = choice;
  const output = strategy.build(input);
  addConsumer(draft, { input, system: all.system, sources: all.sources, output });
  return {
    diagnostics: [...common, ...consumerWarnings(input, strategy.name)],
    result: {
      contract: contractOf(input, strategy, output, sourcesOf(all, plan, target)),
      promises: output.promises,
      choice: {
        consumer: plan.consumer,
        strategy: strategy.name,
        reason: target.strategy === "auto" ? strategy.summary : `asked for by name: ${strategy.summary}`,
        passedOver,
      },
    },
  };
}

type Chosen = { readonly strategy: Strategy; readonly passedOver: { strategy: StrategyName; reason: string }[] };

/** The strategy asked for, or the first that keeps every promise. */
function chooseStrategy(input: StrategyInput): Chosen | { readonly refusal: Diagnostic } {
  const wanted = input.target.strategy;
  const objections = new Map(strategies.map((strategy) => [strategy, strategy.objections(input)]));
  const passedOver: Chosen["passedOver"] = [];
  for (const [strategy, found] of objections) {
    if (wanted === "auto" ? !strategy.isAutomatic : strategy.name !== wanted) continue;
    if (found.length === 0) return { strategy, passedOver };
    passedOver.push({ strategy: strategy.name, reason: found.map((each) => each.reason).join("; ") });
  }
  const byName = new Map([...objections].map(([strategy, found]) => [strategy.name, found]));
  return { refusal: refuseStrategy(input.target, input.plan, byName) };
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
    attempts: output.attempts,
    crashDeliveries: output.crashDeliveries,
    maxDeliveries: output.maxDeliveries,
    outcomes: output.outcomes,
    why: output.why,
    ...(output.retryAfter === undefined ? {} : { retryAfter: output.retryAfter }),
    attemptNumber: output.attemptNumber,
    receive: { mode: "peekLock", sessions, lockRenewalMs: lockRenewalMs(input), lockMs: target.lockMs },
    calls: sdkCalls,
    sources,
    handlerTimeoutMs: plan.handlerTimeoutMs,
    permanentErrors: retry.permanentErrors,
  };
}
