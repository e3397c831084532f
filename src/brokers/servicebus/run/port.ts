import type * as port from "../../../consume/port/adapter.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import type { ServicebusTargetInput } from "../compile/target.ts";
import type { ServicebusConnection } from "./connection.ts";

/** The types of the port, filled in for this broker. */
export type Adapter = port.Adapter<ServicebusCompiled, ServicebusTargetInput, ServicebusConnection>;
export type Comparison = port.Comparison<ServicebusCompiled, ServicebusTargetInput, ServicebusConnection>;
export type Opening = port.Opening<ServicebusCompiled, ServicebusConnection>;
