import type * as port from "../../../consume/port/adapter.ts";
import type { SqsCompiled } from "../compile/compile.ts";
import type { SqsTargetInput } from "../compile/target.ts";
import type { SqsConnection } from "./connection.ts";

/** The types of the port, filled in for this broker. */
export type Adapter = port.Adapter<SqsCompiled, SqsTargetInput, SqsConnection>;
export type Comparison = port.Comparison<SqsCompiled, SqsTargetInput, SqsConnection>;
export type Opening = port.Opening<SqsCompiled, SqsConnection>;
