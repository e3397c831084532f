import { join } from "node:path";

import { stringify } from "yaml";

import type { System } from "../declare/system.ts";
import type { Deployed } from "../migrate/deployed.ts";
import { writeWhole } from "./write-file.ts";

/** The result of the steps is plain data, so it needs no anchors. */
export function yamlOf(system: object): string {
  return stringify(JSON.parse(JSON.stringify(system)), { lineWidth: 120 });
}

/** Writes the declaration and the target of the present step, always into the same two files. */
export async function writeStep(
  folder: string | undefined,
  { system, target }: { readonly system: System; readonly target: Deployed["target"] },
): Promise<void> {
  if (folder === undefined) return;
  await writeWhole(join(folder, "target.yaml"), yamlOf(target));
  await writeWhole(join(folder, "step.yaml"), yamlOf(system));
}
