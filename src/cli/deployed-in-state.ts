import { isEntry } from "../foreign/entries.ts";
import { nameSome } from "../foreign/finding.ts";
import { readPulumiState } from "../foreign/pulumi-state.ts";
import { type Checked, accepted, refusedFor } from "../diagnostics/diagnostic.ts";
import { visible } from "../diagnostics/visible.ts";
import { type Deployed, readDeployed } from "../migrate/deployed.ts";
import { jsonIn } from "../foreign/parse-json.ts";

/** The text of a Pulumi stack's state, as `pulumi stack export` writes it or a backend keeps it. */
export function isState(text: string): boolean {
  const data = jsonIn(text.replace(/^\uFEFF/, ""));
  return isEntry(data) && ("deployment" in data || "checkpoint" in data);
}

/**
 * The system that a component of the stack deployed. The component has the declaration and the target as inputs.
 *
 * @param system its name on the broker
 */
export function deployedInState(text: string, system: string, fromTarget?: string): Checked<Deployed> {
  const read = readPulumiState(text);
  if (!read.ok) return read;
  const components = read.value
    .filter(({ type }) => /^redeliver:\w+:RetryTopology$/.test(type))
    .flatMap(({ inputs: { declaration, target } = {} }) => {
      const name = isEntry(declaration) ? (declaration["formerly"] ?? declaration["name"]) : null;
      return typeof name === "string" ? [{ name, declaration, target }] : [];
    });
  const [own, ...more] = components.filter(({ name }) => name === system);
  const refuse = (message: string, help: string): Checked<never> => refusedFor("RD401", { path: "", message, help });
  if (fromTarget !== undefined) return refuse("a state has the target of its system", "leave out --from-target");
  if (own === undefined) {
    const others = components.length === 0 ? "no system" : nameSome(components.map(({ name }) => name));
    return refuse(`this stack deploys ${others}, and not ${visible(system)}`, "export the stack that deploys it");
  }
  if (more.length > 0)
    return refuse(
      `this stack deploys ${visible(system)} ${more.length + 1} times`,
      "leave one of its components in the file",
    );
  const deployed = readDeployed(own.declaration, own.target);
  return deployed === null
    ? refuse(
        "this version of Redeliver cannot read the deployed declaration or its target",
        "write it to a file, and name that",
      )
    : accepted(deployed);
}
