import * as pulumi from "@pulumi/pulumi";

import { ServicebusRetryTopology } from "../../../src/brokers/servicebus/make/index.ts";
import { compile, type CompiledSystem, type System, type TargetInput } from "../../../src/index.ts";
import { accepted } from "../examples.ts";
import { runProgram } from "../pulumi.ts";

export type ServicebusTargetInput = TargetInput<"servicebus">;

const resourceGroup = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shop";
export const namespaceId = `${resourceGroup}/providers/Microsoft.ServiceBus/namespaces/shop-test`;

export function compileServicebus(system: System, target: ServicebusTargetInput): CompiledSystem<"servicebus"> {
  return accepted(compile<"servicebus">(system, target));
}

/** Registers a system as the component "shop", in a namespace that is an output of another resource. */
export async function registerServicebus(system: System, target: ServicebusTargetInput, preview = false) {
  const run = await runProgram(
    () => {
      const actionGroupIds = [pulumi.output(`${resourceGroup}/providers/Microsoft.Insights/actionGroups/on-call`)];
      const place = { namespaceId: pulumi.output(namespaceId), actionGroupIds };
      const made = new ServicebusRetryTopology("shop", { system, target, ...place });
      const { contracts, workQueues, topics } = made;
      return { contracts, workQueues, topics };
    },
    { preview },
  );
  if (run.error !== undefined) throw run.error;
  return run;
}
