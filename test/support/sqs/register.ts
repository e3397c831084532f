import * as pulumi from "@pulumi/pulumi";

import { SqsRetryTopology } from "../../../src/brokers/sqs/make/index.ts";
import { compile, type CompiledSystem, type System, type TargetInput } from "../../../src/index.ts";
import { accepted } from "../examples.ts";
import { type ProgramRun, runProgram } from "../pulumi.ts";

type SqsTargetInput = TargetInput<"sqs">;

export function compileSqs(system: System, target: SqsTargetInput): CompiledSystem<"sqs"> {
  return accepted(compile<"sqs">(system, target));
}

/** Registers a system as the component "shop". Its alarms notify a topic that is an output of another resource. */
export async function registerSqs(system: System, target: SqsTargetInput, preview = false): Promise<ProgramRun> {
  const run = await runProgram(
    () => {
      const alarmActions = [pulumi.output("arn:aws:sns:eu-west-1:000000000000:on-call")];
      const made = new SqsRetryTopology("shop", { system, target, alarmActions });
      const { contracts, workQueues, deadQueues, topics } = made;
      return { contracts, workQueues, deadQueues, topics };
    },
    { preview },
  );
  if (run.error !== undefined) throw run.error;
  return run;
}
