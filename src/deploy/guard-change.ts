import * as pulumi from "@pulumi/pulumi";

import type { DeployedPart } from "../brokers/deployed-part.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { compareChange } from "../migrate/compare-change.ts";
import { refusal, showWarnings } from "./accept.ts";
import { type Changed, deployedOf } from "../migrate/deployed.ts";
import type { LeftBehind } from "../migrate/left-behind.ts";
import { type HeldQueues, heldAfter } from "../migrate/held-queues.ts";
import { type TakenSources, takenAfter } from "../migrate/taken-sources.ts";

export type { LeftBehind } from "../migrate/left-behind.ts";

/** A component before its registration. */
interface Changing {
  readonly type: string;
  readonly name: string;
  readonly to: Changed;
  /** True for a part of the system that this stack makes. Left out if it makes all of them. */
  readonly isOwn?: (part: DeployedPart) => boolean;
  /** Asks the broker for reasons to make no resource at all. Called in a preview, too. */
  readonly ask?: () => Promise<readonly Diagnostic[]>;
}

/** The facts about a change before it begins. */
export interface Guard {
  /** The component's options, with the hook among them. */
  readonly options: pulumi.ComponentResourceOptions;
  /** The parts that this update leaves on the broker; known once the component is registered. */
  readonly left: () => readonly LeftBehind[];
  /** The promises that do not hold for messages that wait during the update; known at the same time. */
  readonly warnings: () => readonly Diagnostic[];
  /** The facts that the next update compares with; known at the same time. */
  readonly remembered: () => Remembered;
}

interface Remembered {
  /** The sources that consumers took from up to now. */
  readonly taken: TakenSources;
  /** The queues that consumers have had up to now. */
  readonly held: HeldQueues;
}

/**
 * Compares the state with the new deployment before any resource of the component changes. Pulumi calls the hook in a
 * preview, and in an update without one. It registers no child before the hook has returned.
 *
 * Source: `UpdateStep.Apply` in Pulumi's `pkg/resource/deploy/step.go`; resource hooks exist since CLI 3.182.
 */
export function guardChange(changing: Changing, options: pulumi.ComponentResourceOptions = {}): Guard {
  const { type, name, ask } = changing;
  const to = deployedOf(changing.to);
  let left: readonly LeftBehind[] = [];
  let warnings: readonly Diagnostic[] = [];
  let remembered: Remembered = { taken: takenAfter({}, to), held: heldAfter({}, to) };
  const compare = ({ oldInputs = {}, oldOutputs = {} }: pulumi.ResourceHookArgs): void => {
    const compared = compareChange({ inputs: oldInputs, outputs: oldOutputs }, to, changing.isOwn);
    // If this version cannot read the state, the options of each resource remain. They keep everything but the bindings
    // of a source.
    if (compared === null) return;
    if (compared.problems.length > 0)
      throw new Error(
        `${type} ${JSON.stringify(name)} cannot be changed like this\n${renderDiagnostics(compared.problems)}`,
      );
    ({ left, warnings } = compared);
    remembered = { taken: compared.taken, held: compared.held };
  };
  const known = { left: () => left, warnings: () => warnings, remembered: () => remembered };
  // Pulumi's mocks know no hooks, and would wait for ever for an unregistered one.
  if (!pulumi.runtime.hasEngine()) return { options, ...known };
  const hook = new pulumi.ResourceHook(`${type} ${name}: changes that are not possible`, compare, { onDryRun: true });
  const first = ask === undefined ? [] : [askFirst(changing, ask)];
  const hooks = {
    ...options.hooks,
    beforeCreate: [...(options.hooks?.beforeCreate ?? []), ...first],
    beforeUpdate: [...(options.hooks?.beforeUpdate ?? []), ...first, hook],
  };
  return { options: { ...options, hooks }, ...known };
}

function askFirst({ type, name }: Changing, ask: NonNullable<Changing["ask"]>): pulumi.ResourceHook {
  const asking = async (): Promise<void> => {
    const problems = await ask();
    if (problems.length > 0) throw refusal(name, problems);
  };
  return new pulumi.ResourceHook(`${type} ${name}: the broker's answer`, asking, { onDryRun: true });
}

/**
 * The parts that an update leaves on the broker, once they are known. Messages on the component name them too, and the
 * promises that do not hold for messages that wait.
 */
export function leftOf(component: pulumi.Resource, { left, warnings }: Guard): pulumi.Output<readonly LeftBehind[]> {
  return component.urn.apply(() => {
    showWarnings(warnings(), component);
    showLeft(component, left());
    return left();
  });
}

/**
 * The facts that the next update compares with. As outputs, they are in the state as soon as the component is
 * registered.
 */
export function rememberedOf(
  component: pulumi.Resource,
  { remembered }: Guard,
): { readonly [Fact in keyof Remembered]: pulumi.Output<Remembered[Fact]> } {
  return {
    taken: component.urn.apply(() => remembered().taken),
    held: component.urn.apply(() => remembered().held),
  };
}

/** Warns on the component of the parts that stay on the broker, and says how to remove them. */
function showLeft(component: pulumi.Resource, left: readonly LeftBehind[]): void {
  if (left.length === 0) return;
  const lines = left.map(({ kind, name, why, until }) => `  ${kind} ${name}: ${why}. It is needed until ${until}.`);
  const text = `these stay on the broker, with their bindings and subscriptions:\n${lines.join("\n")}\nredeliver leftovers lists them later, with the requests that delete them`;
  void pulumi.log.info(text, component);
}
