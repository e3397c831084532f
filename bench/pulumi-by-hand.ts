import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import type { RegisteredResource } from "../test/support/pulumi.ts";

type ResourceClass = new (name: string, inputs: never, options: pulumi.CustomResourceOptions) => pulumi.CustomResource;

const classes: Readonly<Record<string, ResourceClass>> = {
  "rabbitmq:index/exchange:Exchange": rabbitmq.Exchange,
  "rabbitmq:index/queue:Queue": rabbitmq.Queue,
  "rabbitmq:index/policy:Policy": rabbitmq.Policy,
  "rabbitmq:index/binding:Binding": rabbitmq.Binding,
};

/**
 * A program with one loop over resources that are known in advance. It computes nothing, so no hand-written program can
 * be faster.
 *
 * @param recorded the resources of a run of the component, in their order
 */
export function withLoop(recorded: readonly RegisteredResource[]): () => void {
  return () => {
    // The same type and name as the component's, so that both programs register the same URNs.
    const parent = new pulumi.ComponentResource("redeliver:index:RetryTopology", "bench");
    const made = new Map<string, pulumi.Resource>();
    const find = (urn: string): pulumi.Resource => {
      const resource = made.get(urn);
      if (resource === undefined) throw new Error(`${urn} is needed before it is made`);
      return resource;
    };
    for (const { urn, type, name, inputs, ...recordedOptions } of recorded) {
      const { protect, retainOnDelete, deletedWith = "", deleteBeforeReplace, dependencies } = recordedOptions;
      const kind = classes[type];
      if (kind === undefined) continue;
      const options: pulumi.CustomResourceOptions = {
        parent,
        protect,
        retainOnDelete,
        dependsOn: dependencies.map(find),
        ...(deletedWith === "" ? {} : { deletedWith: find(deletedWith) }),
        ...(deleteBeforeReplace === undefined ? {} : { deleteBeforeReplace }),
      };
      made.set(urn, new kind(name, inputs as never, options));
    }
  };
}
