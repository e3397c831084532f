import "../../../node/required.ts";
export { type ServicebusRetryTopologyArgs, ServicebusRetryTopology } from "./servicebus-retry-topology.ts";
export { type StackConfig, readStackConfig } from "../../../deploy/stack-config.ts";
