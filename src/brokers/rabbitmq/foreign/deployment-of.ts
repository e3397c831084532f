import { afterDeployment } from "../compile/after-deployment.ts";
import type { RabbitmqCompiled } from "../compile/compile.ts";
import type { ExchangeResource } from "../compile/topology.ts";
import { brokerTopologyOf } from "../prove/semantics.ts";
import type { Deployment } from "./deployment.ts";

/** A compiled system as the content of a broker, after it was deployed over another one. */
export function deploymentOf({ topology }: RabbitmqCompiled, over?: RabbitmqCompiled): Deployment {
  const [, brokerVersion = null] = topology.target.split("@");
  const { assumed } = topology;
  // Nobody changes an exchange of another owner. It keeps an argument that only the older declaration names.
  const given = new Map<string, ExchangeResource["assumedArguments"]>();
  for (const { name, assumedArguments } of [over?.topology, topology].flatMap((each) => each?.exchanges ?? []))
    given.set(name, { ...given.get(name), ...assumedArguments });
  const resources =
    over === undefined ? topology : { ...afterDeployment(over.topology, topology), ...(assumed && { assumed }) };
  const made = brokerTopologyOf(resources);
  const exchanges = made.exchanges.map((each) => ({
    ...each,
    arguments: { ...each.arguments, ...given.get(each.name) },
  }));
  return { brokerVersion, virtualHosts: [{ name: topology.system, topology: { ...made, exchanges } }] };
}
