import type { Target } from "../brokers/index.ts";
import { isEntry } from "../brokers/entries.ts";
import type { Entry } from "../brokers/entries.ts";
import { checkTarget } from "../brokers/index.ts";
import { hasUnknown } from "../brokers/pulumi-resource.ts";
import type { KeptPromise } from "../brokers/broker.ts";
import { checkSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import type { ConsumerPlan, RetryPlan } from "../plan/plan.ts";
import { plan } from "../plan/plan.ts";
import { compile } from "../verify/compile.ts";

/** A component that declares how consumers retry, as its inputs tell it. */
export interface Component {
  readonly owner: string | null;
  /** The stack's own tags, which the backend keeps. */
  readonly stackTags: ReadonlyMap<string, string>;
  readonly system: System;
  readonly consumers: readonly ConsumerPlan[];
  /** Those that are retried. */
  readonly retried: readonly RetriedConsumer[];
  readonly promises: readonly KeptPromise[];
}

export interface RetriedConsumer extends ConsumerPlan {
  readonly retry: RetryPlan;
}

/** A component that was read; or why it cannot be judged; or that a preview does not know enough of it. */
export type ReadComponent =
  | { readonly kind: "component"; readonly component: Component }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "unknown" };

/** Whether it is one of the components of `redeliver/pulumi`. */
export function isComponentType(type: string): boolean {
  return /^redeliver:[a-z]+:RetryTopology$/.test(type);
}

/**
 * Whether a component of Redeliver made it, which decides by itself what is protected and what is retained. The types of everything above a
 * resource are in its URN: `urn:pulumi:prod::shop::redeliver:index:RetryTopology$rabbitmq:index/queue:Queue::orders`.
 */
export function isMadeByComponent(urn: string): boolean {
  return (urn.split("::")[2] ?? "").split("$").slice(0, -1).some(isComponentType);
}

/** Rules are asked one after the other about the same component. */
let last: { readonly key: string; readonly read: ReadComponent } | null = null;

/**
 * Reads what a component registered as its inputs.
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
    const why = "PULUMI_NODEJS_SKIP_COMPONENT_INPUTS keeps the inputs of components back";
    return unreadable(`it has no declaration or no target among its inputs; an older @pulumi/pulumi or ${why}`);
  }
  const system = checkSystem(declaration);
  if (!system.ok) return unreadable(`its declaration is of another form: ${system.diagnostics[0]?.message}`);
  const target = checkTarget((isEntry(givenTarget) ? givenTarget : {}) as unknown as Target);
  if (!target.ok) return unreadable(`its target is of another form: ${target.diagnostics[0]?.message}`);
  const compiled = compile(system.value, target.value);
  if (!compiled.ok) return unreadable(`it is refused by this version: ${compiled.diagnostics[0]?.message}`);
  const { consumers } = plan(system.value);
  return {
    kind: "component",
    component: {
      owner: typeof owner === "string" && owner.trim() !== "" ? owner : null,
      stackTags,
      system: system.value,
      consumers,
      retried: consumers.filter((each): each is RetriedConsumer => each.retry !== null),
      promises: compiled.value.promises,
    },
  };
}

function unreadable(reason: string): ReadComponent {
  return { kind: "unreadable", reason };
}
