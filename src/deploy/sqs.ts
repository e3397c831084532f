export { SqsRetryTopology } from "./sqs-retry-topology.ts";
export type { SqsRetryTopologyArgs } from "./sqs-retry-topology.ts";
export type { DeployedQueue, Naming } from "../brokers/sqs/deploy.ts";
export { readStackConfig } from "./stack-config.ts";
export type { StackConfig } from "./stack-config.ts";
