import type { FoundSystem, Imports } from "../adopt/found.ts";
import type { ProgramTemplates } from "../adopt/programs.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import type { DeployedDifference } from "./drift.ts";

/** Infers a declaration from a topology that Redeliver did not make, and takes its resources over. */
export interface Adopter<Target, Deployment, System> {
  /**
   * @param only the work queues to adopt; empty for all
   * @param elsewhere the queues that the input only refers to, because another program owns them
   */
  readonly infer: (
    deployment: Deployment,
    target: Target,
    only: readonly string[],
    elsewhere?: readonly string[],
  ) => Checked<FoundSystem>;
  /** The deployment after the system is deployed over it. Attributes that cannot change keep their values. */
  readonly deployedOver: (deployment: Deployment, compiled: System) => Deployment;
  /** The settings of a target that the deployment shows beside the compiled system, such as policies of others. */
  readonly assumedOf?: (deployment: Deployment, compiled: System) => object;
  /** The kinds of resources that keep their attributes under a deployment. */
  readonly fixed: readonly string[];
  /** True for a difference that is only a policy of the system which is not there yet. */
  readonly isNewPolicy?: (difference: Pick<DeployedDifference<unknown>, "settings">) => boolean;
  /** A sentence without its end: the effect of a deployment on the differences. */
  readonly effect: string;
  /** The type in Terraform for a type of Pulumi; null for a resource that takes nothing over. */
  readonly terraformType: (token: string) => string | null;
  /**
   * @param component the name of the component in the program that takes over
   * @param url the deployment was read from it; null if the input is a file
   */
  readonly importsOf: (deployment: Deployment, compiled: System, component: string, url: string | null) => Imports;
  /** Left out if Redeliver has no programs for the broker. */
  readonly programsOf?: (deployment: Deployment, target: Target) => ProgramTemplates;
}
