import { type Diagnostic, diagnosed, diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { ServicebusCompiled } from "../compile/compile.ts";
import type { Contract } from "../compile/contract.ts";
import { type DeclaredEntity, type Named, type Settings, compareSettings, pathOf } from "../compile/differences.ts";
import { declaredEntities } from "../compile/differences.ts";

/** The entities that the consumer's messages pass. */
export function wantedEntities({ topology }: ServicebusCompiled, contract: Contract): readonly DeclaredEntity[] {
  const sources = new Set(contract.sources.map(({ entity }) => entity.name));
  return declaredEntities(topology).filter(({ kind, name, consumer }) =>
    kind === "topic" ? sources.has(name) : consumer === contract.consumer || consumer === null,
  );
}

/** @param found null if the entity does not exist */
export function compareEntity(wanted: DeclaredEntity, found: Settings | null): Diagnostic[] {
  const { kind, settings } = wanted;
  const path = pathOf(wanted);
  if (found === null) return [missing(kind, path)];
  if (wanted.owner === "other") return [];
  const notes = compareSettings(settings, found).map(
    ({ key, declared, deployed }) => `${key} is ${shown(deployed)}; compiled is ${shown(declared)}`,
  );
  if (notes.length === 0) return [];
  return diagnosed("RD808", {
    path,
    message: `the ${kind} ${path} differs from the compiled one`,
    notes,
    help: "deploy this declaration, or run the consumer from the deployed one",
  });
}

function shown(value: unknown): string {
  return value === undefined ? "not there" : value === null ? "none" : String(value);
}

export function missing(kind: Named["kind"], path: string): Diagnostic {
  return diagnostic("RD805", {
    path,
    message: `there is no ${kind} ${path}`,
    help: "deploy the system into the namespace that its consumers connect to, with pulumi up, before they start",
  });
}
