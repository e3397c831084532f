import * as pulumi from "@pulumi/pulumi";

import type { CompiledSystem, Target } from "../brokers/index.ts";
import type { System } from "../declare/system.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { compareChange } from "../migrate/compare-change.ts";
import { deployedOf } from "../migrate/deployed.ts";
import type { LeftBehind } from "../migrate/left-behind.ts";
import type { TakenSources } from "../migrate/taken-sources.ts";
import { takenAfter } from "../migrate/taken-sources.ts";

export type { LeftBehind } from "../migrate/left-behind.ts";

/** A component that is about to be registered. */
interface Changing {
  readonly type: string;
  readonly name: string;
  readonly system: System;
  readonly target: Target;
  readonly compiled: CompiledSystem;
}

/** What is known of a change before it begins. */
export interface Guard {
  /** The component's options, with the hook among them. */
  readonly options: pulumi.ComponentResourceOptions;
  /** What this update leaves on the broker; known once the component is registered. */
  readonly left: () => readonly LeftBehind[];
  /** What consumers took from sources up to now, for the next update to compare with; known then as well. */
  readonly taken: () => TakenSources;
}

/**
 * Compares what the state says is deployed with what is going to be, before any resource of the component is touched. Pulumi calls the hook
 * in a preview and in an update without one, and registers no child before it has returned.
 *
 * Source: `UpdateStep.Apply` in Pulumi's `pkg/resource/deploy/step.go`; resource hooks are there since CLI 3.182.
 */
export function guardChange(changing: Changing, options: pulumi.ComponentResourceOptions = {}): Guard {
  const { type, name, system, target, compiled } = changing;
  const to = deployedOf(system, target, compiled);
  let left: readonly LeftBehind[] = [];
  let taken = takenAfter({}, system);
  const compare = ({ oldInputs = {}, oldOutputs = {} }: pulumi.ResourceHookArgs): void => {
    const compared = compareChange({ inputs: oldInputs, outputs: oldOutputs }, to);
    // What this version cannot read is left to the options of each resource, which keep all but the bindings of a source.
    if (compared === null) return;
    if (compared.problems.length > 0)
      throw new Error(
        `${type} ${JSON.stringify(name)} cannot be changed like this\n${renderDiagnostics(compared.problems)}`,
      );
    ({ left, taken } = compared);
  };
  // Pulumi's mocks know no hooks, and wait for ever for one that was never registered.
  if (!pulumi.runtime.hasEngine()) return { options, left: () => left, taken: () => taken };
  const hook = new pulumi.ResourceHook(`${type} ${name}: what cannot be changed`, compare, { onDryRun: true });
  const hooks = { ...options.hooks, beforeUpdate: [...(options.hooks?.beforeUpdate ?? []), hook] };
  return { options: { ...options, hooks }, left: () => left, taken: () => taken };
}

/** What an update leaves on the broker, once that is known; it is said on the component, too. */
export function leftOf(component: pulumi.Resource, { left }: Guard): pulumi.Output<readonly LeftBehind[]> {
  return component.urn.apply(() => {
    showLeft(component, left());
    return left();
  });
}

/** What the next update compares with. It is an output, which the state has as soon as the component is registered. */
export function takenOf(component: pulumi.Resource, { taken }: Guard): pulumi.Output<TakenSources> {
  return component.urn.apply(taken);
}

/** Says on the component what stays on the broker, and how it is removed. */
function showLeft(component: pulumi.Resource, left: readonly LeftBehind[]): void {
  if (left.length === 0) return;
  const lines = left.map(({ kind, name, why, until }) => `  ${kind} ${name}: ${why}. It is needed until ${until}.`);
  const text = `these stay on the broker, with all that leads into them and out of them:\n${lines.join("\n")}\nredeliver leftovers lists them later, with the requests that remove them`;
  void pulumi.log.info(text, component);
}
