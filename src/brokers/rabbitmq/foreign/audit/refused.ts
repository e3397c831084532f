import { type BrokerTopology, type Semantics, versionRules } from "../../prove/semantics.ts";
import type { Remark } from "./remarks.ts";

/**
 * Finds exchanges and policies that this version refuses when they are made or imported, and alternate exchanges that
 * do not exist.
 */
export function exchangeFindings(
  topology: BrokerTopology,
  semantics: Semantics,
  alternates: ReadonlyMap<string, string>,
): Remark[] {
  const rules = versionRules[semantics.version];
  const names = new Set(topology.exchanges.map(({ name }) => name));
  const delayed = rules.delayedMessagePlugin
    ? []
    : topology.exchanges.filter(({ pluginType }) => pluginType === "x-delayed-message").map(({ name }) => name);
  return [
    ...(rules.mirroringByPolicy ? [] : mirroringPolicies(topology)),
    ...(delayed.length === 0
      ? []
      : [{ code: "RD435" as const, subject: delayed.length === 1 ? (delayed[0] ?? "") : "", facts: { delayed } }]),
    ...[...alternates]
      .filter(([, alternate]) => alternate !== "" && !names.has(alternate))
      .map(([subject, alternate]) => ({ code: "RD437" as const, subject, facts: { alternate } })),
  ];
}

/** Measured on 4.0.5 and 4.3.6: the HTTP API and an import answer 400, "not recognised policy settings". */
function mirroringPolicies({ policies }: BrokerTopology): Remark[] {
  return policies.flatMap(({ name, definition }) => {
    const keys = Object.keys(definition);
    const mirroring = keys.filter((key) => key.startsWith("ha-"));
    if (mirroring.length === 0) return [];
    const others = keys.filter((key) => !mirroring.includes(key));
    return [{ code: "RD435" as const, subject: name, facts: { mirroring, others } }];
  });
}
