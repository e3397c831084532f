import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refusal } from "../../../deploy/accept.ts";
import { different, differentArguments, foreignWords } from "../compile/differences.ts";
import type { ExchangeResource } from "../compile/topology.ts";
import type { RabbitmqPlacement } from "./resources.ts";

/**
 * The name of an exchange that somebody else made. It refuses the deployment if the exchange is missing, has another
 * kind or other values of declared arguments, or is not durable. A preview does not refuse a missing one: without a
 * known provider it gets the same empty answer as for a missing exchange. It asks at once, so the exchange cannot be
 * made by the same program. Source: provider 3.3.8, `dataSourcesReadExchange`, `checkDeleted`.
 */
export function assumed(placement: RabbitmqPlacement, exchange: ExchangeResource): pulumi.Output<string> {
  return pulumi.output(placement.namespace).apply(async (vhost) => compareAssumed(placement, exchange, vhost));
}

/** @returns the name of the exchange */
export async function compareAssumed(
  { name: component, parent }: Pick<RabbitmqPlacement, "name" | "parent">,
  { name, kind: likened, pluginType: kind = likened, assumedArguments = {} }: ExchangeResource,
  vhost: string,
): Promise<string> {
  const found: Partial<rabbitmq.GetExchangeResult> = await rabbitmq.getExchange({ name, vhost }, { parent });
  const isMissing = found.name === undefined;
  if (isMissing && !pulumi.runtime.isDryRun()) {
    throw refusal(
      component,
      diagnosed("RD805", {
        path: name,
        message: `there is no exchange ${name} in the virtual host ${vhost}`,
        notes: ["the declaration says that somebody else makes it"],
        help: 'deploy it first, or take away owner: "other"',
      }),
    );
  }
  const [settings] = found.settings ?? [];
  // A program under mocks gets no settings, and mostly no id.
  if (settings === undefined) {
    if (found.id && !isMissing) void pulumi.log.warn(unseen(name), parent);
    return name;
  }
  const { type, durable = true, arguments: given = {} } = settings;
  const problems = [
    ...different("foreign", name, { type: kind, durable: true }, { type, durable }),
    ...differentArguments(name, assumedArguments, given),
  ];
  if (problems.length === 0) return name;
  throw refusal(
    component,
    problems.map((problem) => {
      const { what, help } = foreignWords[problem.kind];
      return diagnostic("RD808", {
        path: name,
        message: `${what} differs from the compiled one, for ${name}`,
        notes: problem.settings.map(
          ({ key, declared, deployed }) =>
            `${key}: compiled is ${JSON.stringify(declared)}, deployed is ${JSON.stringify(deployed) ?? "nothing"}`,
        ),
        help,
      });
    }),
  );
}

/** The provider ignores that `d.Set("settings", …)` fails for such arguments. Source: provider 3.3.8; measured. */
function unseen(name: string): string {
  return `the kind and the arguments of the exchange ${name} are not compared: the provider does not show an exchange with an argument that is not a text. redeliver diff compares them`;
}
