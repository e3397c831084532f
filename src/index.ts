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
export type { Checked, Diagnostic } from "./diagnostics/diagnostic.ts";
export { RefusedError } from "./diagnostics/diagnostic.ts";
export type { DiagnosticCode } from "./diagnostics/catalogue.ts";
export { renderDiagnostics } from "./diagnostics/render.ts";
export { plan } from "./plan/plan.ts";
export type { ConsumerPlan, Plan, RetryPlan } from "./plan/plan.ts";
export type { AttemptPlan } from "./plan/schedule.ts";
export { brokerOf, brokers, parseTarget } from "./brokers/index.ts";
export type { BrokerName, CompiledSystem, Target, TargetInput } from "./brokers/index.ts";
export type {
  Compiled,
  Graph,
  GraphEdge,
  GraphNode,
  KeptPromise,
  Keeper,
  PromiseName,
  StrategyChoice,
} from "./brokers/broker.ts";
export type { BrokerContract, OutcomeName } from "./brokers/contract.ts";
export type {
  AttemptNumber,
  Contract,
  ModifiedOperation,
  Operation,
  Outcome,
  PublishOperation,
} from "./brokers/rabbitmq/contract.ts";
export type {
  BindingResource,
  ExchangeResource,
  PolicyResource,
  QueueResource,
  Topology,
} from "./brokers/rabbitmq/topology.ts";
export type {
  ChangeVisibilityOperation,
  Contract as SqsContract,
  ContractSource as SqsContractSource,
  LambdaContract,
  Operation as SqsOperation,
  SendOperation,
} from "./brokers/sqs/contract.ts";
export type { LambdaInput, SqsOptions } from "./brokers/sqs/options.ts";
export type {
  DepthAlarm,
  LambdaMapping,
  RedriveAllow,
  SnsSubscription,
  SnsTopic,
  SqsEncryption,
  SqsQueue,
  SqsTopology,
} from "./brokers/sqs/topology.ts";
export { compile, InternalError } from "./verify/compile.ts";
export type { Verdict, Violation } from "./verify/verify.ts";
export { checkScenario } from "./simulate/check-scenario.ts";
export type { Simulated } from "./simulate/check-scenario.ts";
export type {
  ConsumerResult,
  Percentiles,
  QueueDepth,
  RetryStorm,
  SimulationResult,
  Timeline,
  TimelineStep,
} from "./simulate/result.ts";
export type { ConsumerScenario, Outage, Phase, Scenario, Shares } from "./simulate/scenario.ts";
export { simulate } from "./simulate/simulate.ts";
