import { deepFreeze } from "../../../declare/freeze.ts";
import { type Checked, accepted, hasErrors } from "../../../diagnostics/diagnostic.ts";
import type { ConsumerPlan, Plan } from "../../../plan/plan.ts";
import type { Compiled } from "../../broker.ts";
import { type CompiledConsumer, compileConsumers } from "../../../contract/compile-consumer.ts";
import { withOwnStrategy } from "../../../contract/own-strategy.ts";
import { chooseStrategy } from "../../../contract/choose-strategy.ts";
import { refuseOwnDeadNames, withOwnDeadQueue } from "../../../contract/shared-dead-queue.ts";
import { sharedDeadName } from "../../../plan/names.ts";
import { sharedQueues } from "../../../contract/shared-problems.ts";
import { type SqsTarget, type StrategyName, formatTarget } from "./capabilities.ts";
import type { Contract } from "./contract.ts";
import { consumerWarnings, diagnoseClashes, diagnoseConsumer, diagnoseNames, diagnoseRetention } from "./diagnose.ts";
import { diagnoseLambdaConsumer } from "./diagnose-lambda.ts";
import { refuseStrategy } from "../../../contract/refuse-strategy.ts";
import { diagnoseOptionNames, keyWarning, refuseSharedFifo } from "./diagnose-options.ts";
import { type LambdaConsumer, lambdaOf } from "./lambda.ts";
import { consumerNames } from "./names.ts";
import { diagnoseQuotas } from "./quotas.ts";
import { type Retention, retentionOf } from "./retention.ts";
import { type TopologyDraft, addConsumer, addTopics, fifoSources, sourcesOf } from "./resources.ts";
import { type SplitPlan, splitServices } from "./services.ts";
import { redrive } from "./strategies/redrive.ts";
import { type Strategy, type StrategyInput, type StrategyOutput, wholeSeconds } from "./strategies/strategy.ts";
import { visibility } from "./strategies/visibility.ts";
import type { SqsTopology } from "./topology.ts";

export type SqsCompiled = Compiled<SqsTopology, Contract, StrategyName>;

/** In the order that `auto` tries them. Strategies that SQS carries out alone come first. */
const strategies: readonly Strategy[] = [redrive, visibility];

/**
 * Compiles a plan into the queues, topics and subscriptions of SQS and SNS. The result also has the contract of each
 * consumer and the keeper of each promise.
 *
 * @returns frozen, JSON-serialisable data, the same bytes for the same input; or every reason to refuse it
 */
export function compileSqs(whole: Plan, target: SqsTarget): Checked<SqsCompiled> {
  const problems = [
    ...diagnoseNames(whole, target.region),
    ...diagnoseOptionNames(target, whole),
    ...keyWarning(target, whole),
    ...refuseOwnDeadNames(whole, target),
    ...refuseSharedFifo(whole, target),
  ];
  const split = splitServices(whole);
  const { plan } = split;
  const fifo = fifoSources(plan);
  const draft: TopologyDraft = { queues: [], topics: [], subscriptions: [], mappings: [], alarms: [] };
  addTopics(draft, plan, fifo);
  const { diagnostics, contracts, promises, choices } = compileConsumers(plan.consumers, (consumer) =>
    compileConsumer(
      draft,
      split,
      consumer,
      withOwnDeadQueue(withOwnStrategy(target, consumer.consumer), consumer),
      fifo,
    ),
  );
  const topology: SqsTopology = deepFreeze({
    broker: "sqs",
    target: formatTarget(target),
    system: plan.system,
    ...draft,
    tags: target.tags ?? {},
  });
  const shared = sharedQueues(plan, (consumer) => consumerNames(plan, consumer).workQueue);
  const clashes = shared.length > 0 ? shared : diagnoseClashes(plan, topology);
  problems.push(...diagnoseQuotas(topology, target), ...diagnostics, ...clashes);
  if (hasErrors(problems)) return { ok: false, diagnostics: problems };
  return accepted(deepFreeze({ target: topology.target, topology, contracts, promises, choices }), problems);
}

function compileConsumer(
  draft: TopologyDraft,
  { plan: whole, servicesOf }: SplitPlan,
  plan: ConsumerPlan,
  target: SqsTarget,
  fifoTopics: ReadonlySet<string>,
): CompiledConsumer<Contract, StrategyName> {
  const common = diagnoseConsumer(plan, whole.sources);
  const { retry } = plan;
  const fifo = plan.order === "per-key";
  const lambda = lambdaOf(target, plan.consumer, fifo);
  if (lambda !== null && retry !== null) common.push(...diagnoseLambdaConsumer(plan, retry, lambda));
  // A problem that no strategy could solve is reported once, and not again as an objection of each.
  if (retry === null || hasErrors(common)) return { diagnostics: common, result: null };
  const own = consumerNames(whole, plan);
  const names = target.deadQueue === "shared" ? { ...own, dead: sharedDeadName(whole, `${whole.system}-dead`) } : own;
  const input: StrategyInput = { target, plan, retry, names, fifo, lambda };
  const chosen = chooseStrategy<StrategyName, StrategyInput, Strategy>(strategies, target.strategy, input);
  if ("objections" in chosen) {
    const refusal = refuseStrategy(plan.consumer, formatTarget(target), target.strategy, chosen.objections);
    return { diagnostics: [...common, refusal], result: null };
  }
  const { strategy, choice } = chosen;
  const retainSeconds = retry.retainMs === null ? null : wholeSeconds(retry.retainMs);
  const retention = retentionOf(fifo, retainSeconds, strategy.windowSeconds(input));
  const diagnostics = [...common, ...diagnoseRetention(input, retention), ...consumerWarnings(input, strategy.name)];
  if (hasErrors(diagnostics)) return { diagnostics, result: null };
  const visibilityTimeoutSeconds = strategy.visibilityTimeoutSeconds(input);
  const services = servicesOf(plan.consumer);
  addConsumer(draft, { input, whole, fifoTopics, services, retention, visibilityTimeoutSeconds });
  const output = strategy.build(input, retention);
  const sources = sourcesOf(whole, plan, fifoTopics, input.names.workQueue);
  const contract = contractOf(input, strategy, output, retention, sources);
  return { diagnostics, result: { contract, promises: output.promises, choice } };
}

function contractOf(
  input: StrategyInput,
  strategy: Strategy,
  output: StrategyOutput,
  retention: Retention,
  sources: Contract["sources"],
): Contract {
  const { retry } = input;
  return {
    consumer: input.plan.consumer,
    target: formatTarget(input.target),
    strategy: strategy.name,
    protocol: "sqs",
    workQueue: input.names.workQueue,
    deadQueue: input.names.dead,
    ...(retry.park === undefined ? {} : { parkedQueue: input.names.parked }),
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
