import type * as port from "../../../consume/port/adapter.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { RabbitmqTargetInput } from "../compile/target.ts";
import type { RabbitmqConnection } from "./connection.ts";

/** The types of the port, filled in for this broker. */
export type Adapter = port.Adapter<RabbitmqCompiled, RabbitmqTargetInput, RabbitmqConnection>;
export type Comparison = port.Comparison<RabbitmqCompiled, RabbitmqTargetInput, RabbitmqConnection>;
export type Opening = port.Opening<RabbitmqCompiled, RabbitmqConnection>;
