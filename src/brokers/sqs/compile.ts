import { deepFreeze } from "../../declare/freeze.ts";
import type { Checked } from "../../diagnostics/diagnostic.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan, RetryPlan } from "../../plan/plan.ts";
import type { Compiled, KeptPromise } from "../broker.ts";
import type { CompiledConsumer } from "../compile-consumer.ts";
import { chooseStrategy, compileConsumers } from "../compile-consumer.ts";
import type { SqsTarget, StrategyName } from "./capabilities.ts";
import { formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import {
  consumerWarnings,
  diagnoseClashes,
  diagnoseConsumer,
  diagnoseNames,
  diagnoseRetention,
  refuseStrategy,
} from "./diagnose.ts";
import { diagnoseLambdaConsumer } from "./diagnose-lambda.ts";
import { diagnoseOptionNames, keyWarning } from "./diagnose-options.ts";
import type { LambdaConsumer } from "./lambda.ts";
import { lambdaOf } from "./lambda.ts";
import { consumerNames } from "./names.ts";
import type { Retention } from "./retention.ts";
import { retentionOf } from "./retention.ts";
import { addConsumer, addTopics, fifoSources, sourcesOf } from "./resources.ts";
import type { TopologyDraft } from "./resources.ts";
import { redrive } from "./strategies/redrive.ts";
import type { Strategy, StrategyInput } from "./strategies/strategy.ts";
import { wholeSeconds } from "./strategies/strategy.ts";
import { visibility } from "./strategies/visibility.ts";
import type { SqsTopology } from "./topology.ts";

export type SqsCompiled = Compiled<SqsTopology, Contract, StrategyName>;

/** In the order in which `auto` tries them: what SQS does alone comes first. */
const strategies: readonly Strategy[] = [redrive, visibility];

/**
 * Compiles a plan into the queues, topics and subscriptions that SQS and SNS run, the contract of each consumer, and who keeps which
 * promise.
 *
 * @returns frozen, JSON-serialisable data, the same bytes for the same input; or every reason why it is refused
 */
export function compileSqs(plan: Plan, target: SqsTarget): Checked<SqsCompiled> {
  const problems = [...diagnoseNames(plan), ...diagnoseOptionNames(target, plan), ...keyWarning(target)];
  const fifo = fifoSources(plan);
  const draft: TopologyDraft = { queues: [], topics: [], subscriptions: [], mappings: [], alarms: [] };
  addTopics(draft, plan, fifo);
  const { diagnostics, contracts, promises, choices } = compileConsumers(plan.consumers, (consumer) =>
    compileConsumer(draft, plan, consumer, target, fifo),
  );
  const topology: SqsTopology = deepFreeze({
    broker: "sqs",
    target: formatTarget(target),
    system: plan.system,
    ...draft,
    tags: target.tags ?? {},
  });
  problems.push(...diagnostics, ...diagnoseClashes(topology));
  if (hasErrors(problems)) return { ok: false, diagnostics: problems };
  return {
    ok: true,
    warnings: problems,
    value: deepFreeze({ target: topology.target, topology, contracts, promises, choices }),
  };
}

function compileConsumer(
  draft: TopologyDraft,
  { system, sources }: Plan,
  plan: ConsumerPlan,
  target: SqsTarget,
  fifoTopics: ReadonlySet<string>,
): CompiledConsumer<Contract, StrategyName> {
  const common = diagnoseConsumer(plan, sources);
  const { retry } = plan;
  const fifo = plan.order === "per-key";
  const lambda = lambdaOf(target, plan.consumer, fifo);
  if (lambda !== null && retry !== null) common.push(...diagnoseLambdaConsumer(plan, retry, lambda));
  // What no strategy could change is said once, and not again as an objection of each.
  if (retry === null || hasErrors(common)) return { diagnostics: common, result: null };
  const input: StrategyInput = { target, plan, retry, names: consumerNames(system, plan.consumer, fifo), fifo, lambda };
  const chosen = chooseStrategy<StrategyName, StrategyInput, Strategy>(strategies, target.strategy, input);
  if ("objections" in chosen) {
    return { diagnostics: [...common, refuseStrategy(target, plan, chosen.objections)], result: null };
  }
  const { strategy, choice } = chosen;
  const retainSeconds = retry.retainMs === null ? null : wholeSeconds(retry.retainMs);
  const retention = retentionOf(fifo, retainSeconds, strategy.windowSeconds(input));
  const diagnostics = [...common, ...diagnoseRetention(input, retention), ...consumerWarnings(input, strategy.name)];
  if (hasErrors(diagnostics)) return { diagnostics, result: null };
  const visibilityTimeoutSeconds = strategy.visibilityTimeoutSeconds(input);
  addConsumer(draft, { input, system, sources, fifoTopics, retention, visibilityTimeoutSeconds });
  const { contract, promises } = contractOf(input, strategy, retention, sourcesOf(system, plan, fifoTopics));
  return { diagnostics, result: { contract, promises, choice } };
}

function contractOf(
  input: StrategyInput,
  strategy: Strategy,
  retention: Retention,
  sources: Contract["sources"],
): { readonly contract: Contract; readonly promises: readonly KeptPromise[] } {
  const retry: RetryPlan = input.retry;
  const output = strategy.build(input, retention);
  return {
    promises: output.promises,
    contract: {
      consumer: input.plan.consumer,
      target: formatTarget(input.target),
      strategy: strategy.name,
      protocol: "sqs",
      workQueue: input.names.workQueue,
      deadQueue: input.names.dead,
      attempts: output.attempts,
      crashDeliveries: null,
      maxDeliveries: retry.attempts.length,
      worstCaseToDeadLetterMs: retention.windowSeconds * 1_000,
      outcomes: output.outcomes,
      why: output.why,
      ...(output.retryAfter === undefined ? {} : { retryAfter: output.retryAfter }),
      attemptNumber: { from: "receive-count" },
      receive: {
        maxNumberOfMessages: input.fifo ? 1 : 10,
        messageSystemAttributeNames: input.fifo
          ? ["ApproximateReceiveCount", "MessageGroupId"]
          : ["ApproximateReceiveCount"],
        messageAttributeNames: ["All"],
      },
      ...(input.lambda === null ? {} : { lambda: lambdaContract(input.lambda) }),
      sources,
      handlerTimeoutMs: input.plan.handlerTimeoutMs,
      permanentErrors: retry.permanentErrors,
    },
  };
}

function lambdaContract({ functionName, timeoutSeconds, batchSize }: LambdaConsumer): NonNullable<Contract["lambda"]> {
  return {
    function: functionName,
    functionTimeoutMs: timeoutSeconds * 1_000,
    batchSize,
    answer: "batchItemFailures",
    deleted: "left-out",
    kept: "named",
  };
}
