import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { diagnosed } from "../../../diagnostics/diagnostic.ts";
import { refusal } from "../../../deploy/accept.ts";
import { different, foreignHelp } from "../compile/differences.ts";
import type { ExchangeResource } from "../compile/topology.ts";
import type { RabbitmqPlacement } from "./resources.ts";

/**
 * The name of an exchange that somebody else made. It refuses the deployment if the exchange is missing, has another
 * kind or is not durable. A preview does not refuse a missing one: without a known provider it gets the same empty answer as for a missing
 * exchange. It asks at once, so the exchange cannot be made by the same program. Source: provider 3.3.8,
 * `dataSourcesReadExchange`, `checkDeleted`.
 */
export function assumed(
  { name: component, parent, namespace }: RabbitmqPlacement,
  { name, kind: likened, pluginType: kind = likened }: ExchangeResource,
): pulumi.Output<string> {
  return pulumi.output(namespace).apply(async (vhost) => {
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
    // A program under mocks gets no settings.
    const { type = kind, durable = true } = found.settings?.[0] ?? {};
    const [problem] = different("foreign", name, { type: kind, durable: true }, { type, durable });
    if (problem === undefined) return name;
    throw refusal(
      component,
      diagnosed("RD808", {
        path: name,
        message: `its kind or its durability differs from the compiled one, for ${name}`,
        notes: problem.settings.map(
          ({ key, declared, deployed }) =>
            `${key}: compiled is ${JSON.stringify(declared)}, deployed is ${JSON.stringify(deployed)}`,
        ),
        help: foreignHelp,
      }),
    );
  });
}
