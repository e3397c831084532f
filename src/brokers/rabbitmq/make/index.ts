import "../../../node/required.ts";
export { type RetryTopologyArgs, RetryTopology } from "./retry-topology.ts";
export { type StackConfig, readStackConfig } from "../../../deploy/stack-config.ts";
