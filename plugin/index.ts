import type { ComponentResource, ComponentResourceOptions, Input, Output } from "@pulumi/pulumi";
import { RetryTopology as Deployed } from "redeliver/pulumi";

// Pulumi infers the package's schema from these types. It knows no unions, and only classes that extend
// ComponentResource itself.

/** The broker to deploy to. */
export interface Target {
  /** `rabbitmq`. */
  broker: string;
  /** The version of the broker: `4.3`, or `4.3.6`. */
  version: string;
  /** The strategy of all consumers. Without it Redeliver chooses one for each. */
  strategy?: string;
  /** By consumer: a strategy of its own. */
  strategies?: Record<string, string>;
  /** The older version that the system was first deployed for, such as `3.13`. */
  since?: string;
  /** The policies on the broker that others own: a list of `name`, `kind`, `pattern`, `applyTo`, `priority` and `definition`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- Their definitions have numbers and texts; Redeliver checks them.
  policies?: any;
}

export interface RetryTopologyArgs {
  /** The declaration: its name, its sources and its consumers. */
  // oxlint-disable-next-line typescript/no-explicit-any -- A declaration has unions; Redeliver checks it.
  system: any;
  target: Target;
  /** The virtual host, which must exist. The default is the broker's own, `/`. */
  vhost?: Input<string>;
  /** The owner of the dead letters, such as `team-billing`. */
  owner?: string;
}

type Component = new (name: string, args: object, opts?: ComponentResourceOptions) => ComponentResource;

/** All resources on RabbitMQ that the consumers of a declaration need to retry. */
export class RetryTopology extends (Deployed as unknown as Component) {
  /** The name of each consumer's work queue. */
  declare readonly workQueues: Output<Record<string, string>>;

  // oxlint-disable-next-line no-useless-constructor -- The schema's arguments are those of the constructor.
  constructor(name: string, args: RetryTopologyArgs, opts?: ComponentResourceOptions) {
    super(name, args, opts);
  }
}
