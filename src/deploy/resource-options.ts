import type * as pulumi from "@pulumi/pulumi";

/** The options of a resource that stays on the broker when it leaves the program. One that others use is protected. */
export function kept(parent: pulumi.Resource, isProtected = true): pulumi.CustomResourceOptions {
  return { parent, ...(isProtected && { protect: true }), retainOnDelete: true, deleteBeforeReplace: false };
}

/**
 * The options of a resource that is deleted when it leaves the program. If the other one leaves in the same update,
 * both stay on the broker.
 */
export function goesUnlessWith(parent: pulumi.Resource, other: pulumi.Resource): pulumi.CustomResourceOptions {
  return { parent, deleteBeforeReplace: false, deletedWith: other };
}

/** @throws Error if the resource is not made yet, which is a bug in Redeliver */
export function find<Resource>(resources: ReadonlyMap<string, Resource>, name: string): Resource {
  const resource = resources.get(name);
  if (resource === undefined) throw new Error(`the topology refers to ${JSON.stringify(name)} before it is made`);
  return resource;
}
