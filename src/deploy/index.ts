export { RetryTopology } from "./retry-topology.ts";
export type { RetryTopologyArgs } from "./retry-topology.ts";
export { readStackConfig } from "./stack-config.ts";
export type { StackConfig } from "./stack-config.ts";
