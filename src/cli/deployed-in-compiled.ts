import { isDeepStrictEqual } from "node:util";

import { type Checked, accepted, refusedFor } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import { type Entry, isEntry } from "../foreign/entries.ts";
import { type Deployed, readDeployed } from "../migrate/deployed.ts";
import { nameOfSystem } from "../plan/plan.ts";
import { jsonIn } from "../foreign/parse-json.ts";

/** By its keys, the output of `compile` in some format. No declaration has such a key. */
const keys = ["topology", "queues", "resource", "Resources", "UserConfig"];

/** The output of `compile` in any format. Null for other texts. */
export function compiledIn(text: string): Entry | null {
  const data = jsonIn(text.replace(/^\uFEFF/, ""));
  return isEntry(data) && keys.some((key) => Object.hasOwn(data, key)) ? data : null;
}

/**
 * The system of a compiled file. Only the format `json` has its declaration and its target.
 *
 * @param system its name on the broker
 */
export function deployedInCompiled(data: Entry, system: string, fromTarget?: string): Checked<Deployed> {
  const refuse = (message: string, help: string): Checked<never> => refusedFor("RD401", { path: "", message, help });
  const { input, topology } = data;
  if (!isEntry(input))
    return refuse(
      "this compiled file does not say which declaration and target it is for",
      "write it with compile --format json, or name the deployed declaration itself",
    );
  if (fromTarget !== undefined)
    return refuse("a compiled file has the target of its system", "leave out --from-target");
  const deployed = readDeployed(input["declaration"], input["target"]);
  if (deployed === null)
    return refuse(
      "this version of Redeliver cannot read the declaration or the target in the compiled file",
      "name the deployed declaration itself",
    );
  const name = nameOfSystem(deployed.system);
  if (name !== system)
    return refuse(
      `this compiled file is of ${visible(name)}, and not ${visible(system)}`,
      "name the file of the system that changes",
    );
  // The contracts have sentences, which may have other words in another version.
  return isDeepStrictEqual(topology, JSON.parse(JSON.stringify(deployed.compiled.topology)))
    ? accepted(deployed)
    : refuse(
        "this version of Redeliver compiles the declaration in the file otherwise, or somebody edited the file",
        "deploy that declaration by this version first, and compile it again",
      );
}
