import "../../../node/required.ts";
export { type SqsRetryTopologyArgs, SqsRetryTopology } from "./sqs-retry-topology.ts";
export type { DeployedQueue, Naming } from "./deploy.ts";
export { type StackConfig, readStackConfig } from "../../../deploy/stack-config.ts";
