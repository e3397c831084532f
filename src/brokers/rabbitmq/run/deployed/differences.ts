import { docsPage } from "../../../../diagnostics/docs-site.ts";
import { type Diagnostic, diagnostic } from "../../../../diagnostics/diagnostic.ts";
import {
  type Difference,
  type DifferentResource,
  bindingText,
  foreignWords,
  isInner,
} from "../../compile/differences.ts";
import type { Topology } from "../../compile/topology.ts";

const policy = {
  what: "the policy in force",
  help: "deploy again, and see whether a policy of a higher priority takes its place",
} as const;

/** The compared settings, and the fix for each. Arguments cannot be changed. */
const places = {
  queue: {
    what: "its arguments",
    help: `name the deployed strategy or version in the target: arguments cannot be changed (${docsPage("changing")})`,
  },
  exchange: {
    what: "its arguments",
    help: `declare the source as it is deployed: an exchange cannot be changed (${docsPage("changing")})`,
  },
  ...foreignWords,
  "queue-policy": policy,
  "exchange-policy": policy,
} as const;

/**
 * The reasons not to start: one diagnostic for each place, and one for the bindings of each exchange. A missing binding
 * loses its messages, or holds them up for ever. An extra one matters only if its source belongs to the retries of this
 * consumer alone: it would copy waiting messages elsewhere. The check of presence reports missing resources.
 */
export function problemsOf(topology: Topology, found: readonly Difference[]): readonly Diagnostic[] {
  const inner = new Set(topology.exchanges.filter(isInner).map(({ name }) => name));
  const problems = found.flatMap((each) =>
    each.kind === "binding" || each.change === "missing" ? [] : [problemOf(each)],
  );
  const bindings = found.flatMap((each) =>
    each.kind === "binding" && (each.change === "missing" || inner.has(each.name)) ? [each] : [],
  );
  return [
    ...problems,
    ...[...Map.groupBy(bindings, ({ name }) => name)].map(([source, all]) =>
      diagnostic("RD810", {
        path: source,
        message: `the bindings of the exchange ${source} differ from the compiled ones`,
        notes: all.map(
          ({ binding, change }) =>
            `${bindingText(binding)}: ${change === "missing" ? "compiled, and not deployed" : "deployed, and not compiled"}`,
        ),
        help: "deploy the system again; where a binding is too many, take it away by hand",
      }),
    ),
  ];
}

/** One diagnostic for all differences of a resource, with both values of each. */
export function problemOf({ kind, name, settings }: DifferentResource): Diagnostic {
  const notes = settings.map(({ key, declared, deployed }) =>
    difference(key, valueText(declared), valueText(deployed)),
  );
  return differing(name, kind, notes);
}

/** @param notes the differences, each with both values */
export function differing(name: string, place: keyof typeof places, notes: readonly string[]): Diagnostic {
  const { what, help } = places[place];
  return diagnostic("RD808", {
    path: name,
    message: `${what} differs from the compiled one, for ${name}`,
    notes,
    help,
  });
}

export function difference(key: string, wanted: string, found: string): string {
  return `${key}: compiled is ${wanted}, deployed is ${found}`;
}

function valueText(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
