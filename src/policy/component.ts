import { type Target, checkTarget } from "../brokers/index.ts";
import { type Entry, isEntry } from "../foreign/entries.ts";
import { hasUnknown } from "../foreign/pulumi-resource.ts";
import type { KeptPromise } from "../contract/promise.ts";
import { checkSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import type { ConsumerPlan, RetryPlan } from "../plan/plan.ts";
import { compileAndProve } from "../compile/compile.ts";

/** A component that declares how consumers retry, read from its inputs. */
export interface Component {
  /** The owner of the dead letters. Null if the program names none. */
  readonly owner: string | null;
  /** The stack's own tags, which the backend keeps. */
  readonly stackTags: ReadonlyMap<string, string>;
  /** The checked declaration. */
  readonly system: System;
  /** The plan of each consumer, those without retries included. */
  readonly consumers: readonly ConsumerPlan[];
  /** The consumers with retries. */
  readonly retried: readonly RetriedConsumer[];
  /** Each promise of each consumer, with its keeper. */
  readonly promises: readonly KeptPromise[];
}

export interface RetriedConsumer extends ConsumerPlan {
  readonly retry: RetryPlan;
}

/**
 * A component that was read, the reason why it cannot be judged, or a note that the preview lacks values of it.
 */
export type ReadComponent =
  | { readonly kind: "component"; readonly component: Component }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "unknown" };

/** True if it is one of the components of `redeliver/pulumi`. */
export function isComponentType(type: string): boolean {
  return /^redeliver:[a-z]+:RetryTopology$/.test(type);
}

/**
 * True if a component of Redeliver made it: the component itself protects and retains its resources. The URN of a
 * resource names the types of its parents: `urn:pulumi:prod::shop::<type of the component>$<type of the
 * resource>::orders`.
 */
export function isMadeByComponent(urn: string): boolean {
  return (urn.split("::")[2] ?? "").split("$").slice(0, -1).some(isComponentType);
}

/** The engine asks one rule after the other about the same component. */
let last: { readonly key: string; readonly read: ReadComponent } | null = null;

/**
 * Reads the inputs that a component registered.
 *
 * @param properties the inputs as plain data
 */
export function readComponent(properties: Entry, stackTags: ReadonlyMap<string, string>): ReadComponent {
  const key = JSON.stringify([properties, [...stackTags]]);
  if (last?.key !== key) last = { key, read: readInputs(properties, stackTags) };
  return last.read;
}

function readInputs(properties: Entry, stackTags: ReadonlyMap<string, string>): ReadComponent {
  if (hasUnknown(properties)) return { kind: "unknown" };
  const { declaration, target: givenTarget, owner } = properties;
  if (declaration === undefined || givenTarget === undefined) {
    const why = "PULUMI_NODEJS_SKIP_COMPONENT_INPUTS hides the inputs of components";
    return unreadable(`its inputs have no declaration or no target; an older @pulumi/pulumi or ${why}`);
  }
  const system = checkSystem(declaration);
  if (!system.ok) return unreadable(`its declaration has another form: ${system.diagnostics[0]?.message}`);
  const target = checkTarget((isEntry(givenTarget) ? givenTarget : {}) as unknown as Target);
  if (!target.ok) return unreadable(`its target has another form: ${target.diagnostics[0]?.message}`);
  const proved = compileAndProve(system.value, target.value);
  if (!proved.ok) return unreadable(`this version refuses it: ${proved.diagnostics[0]?.message}`);
  const { compiled, plan } = proved.value;
  // The stacks of the consumers answer for them.
  const isShared = properties["part"] === "shared";
  const consumers = isShared ? [] : plan.consumers;
  return {
    kind: "component",
    component: {
      owner: typeof owner === "string" && owner.trim() !== "" ? owner : null,
      stackTags,
      system: system.value,
      consumers,
      retried: consumers.filter((each): each is RetriedConsumer => each.retry !== null),
      promises: isShared ? [] : compiled.promises,
    },
  };
}

function unreadable(reason: string): ReadComponent {
  return { kind: "unreadable", reason };
}
