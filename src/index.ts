import "./node/required.ts";
export { constant, exponential, immediate, linear, steps } from "./declare/backoff.ts";
export type {
  Backoff,
  ConstantBackoff,
  ExponentialBackoff,
  ImmediateBackoff,
  Jitter,
  LinearBackoff,
  StepsBackoff,
} from "./declare/backoff.ts";
export { checkSystem } from "./declare/check.ts";
export { defineSystem } from "./declare/define-system.ts";
export type { Duration, DurationUnit } from "./declare/duration.ts";
export { declarationJsonSchema } from "./declare/schema.ts";
export type {
  Consumer,
  ConsumerInput,
  CrashInput,
  DeadLetterInput,
  EveryInstanceConsumerInput,
  RetryInput,
  SourceInput,
  System,
  SystemInput,
  WorkQueueConsumerInput,
} from "./declare/system.ts";
export { type Checked, type Diagnostic, RefusedError } from "./diagnostics/diagnostic.ts";
export type { DiagnosticCode } from "./diagnostics/catalogue.ts";
export { renderDiagnostics } from "./diagnostics/render.ts";
export { type ConsumerPlan, type Plan, type RetryPlan, plan } from "./plan/plan.ts";
export type { AttemptPlan } from "./plan/schedule.ts";
export { brokerOf, brokers, parseTarget } from "./brokers/index.ts";
export type { BrokerName, CompiledSystem, Target, TargetInput } from "./brokers/index.ts";
export type { Compiled } from "./brokers/broker.ts";
export type { Graph, GraphEdge, GraphNode } from "./brokers/graph.ts";
export type { KeptPromise, Keeper, PromiseName } from "./contract/promise.ts";
export type { StrategyChoice } from "./contract/choose-strategy.ts";
export type { BrokerContract, OutcomeName } from "./contract/contract.ts";
export type {
  AttemptNumber,
  Contract,
  ModifiedOperation,
  Operation,
  Outcome,
  PublishOperation,
} from "./brokers/rabbitmq/compile/contract.ts";
export type {
  BindingResource,
  ExchangeResource,
  PolicyResource,
  QueueResource,
  Topology,
} from "./brokers/rabbitmq/compile/topology.ts";
export type {
  ChangeVisibilityOperation,
  Contract as SqsContract,
  ContractSource as SqsContractSource,
  LambdaContract,
  Operation as SqsOperation,
  SendOperation,
} from "./brokers/sqs/compile/contract.ts";
export type { LambdaInput, SqsOptions } from "./brokers/sqs/compile/options.ts";
export type {
  DepthAlarm,
  LambdaMapping,
  RedriveAllow,
  SnsSubscription,
  SnsTopic,
  SqsEncryption,
  SqsQueue,
  SqsTopology,
} from "./brokers/sqs/compile/topology.ts";
export type { ProjectFile } from "./cli/project.ts";
export { type Proved, compile, compileAndProve, InternalError } from "./compile/compile.ts";
export type { Verdict, Violation } from "./verify/verdict.ts";
export { checkScenario } from "./simulate/check-scenario.ts";
export type {
  ConsumerResult,
  Percentiles,
  QueueDepth,
  RetryStorm,
  SimulationResult,
  Timeline,
  TimelineStep,
} from "./simulate/result.ts";
export type { ConsumerScenario, Outage, Phase, Scenario, Shares, Simulated } from "./simulate/scenario.ts";
export { simulate } from "./simulate/simulate.ts";
