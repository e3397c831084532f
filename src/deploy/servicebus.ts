export { ServicebusRetryTopology } from "./servicebus-retry-topology.ts";
export type { ServicebusRetryTopologyArgs } from "./servicebus-retry-topology.ts";
export { readStackConfig } from "./stack-config.ts";
export type { StackConfig } from "./stack-config.ts";
