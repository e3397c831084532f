import { type Checked, type Diagnostic, accepted, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { nameSome } from "./finding.ts";
import { type PulumiResource, nameIn } from "./pulumi-resource.ts";

/** The option that lets an audit pass although it left something out. */
export const allowUnread = "allow-unread";

/**
 * The resources of a program as a deployment, with a warning that names those that could not be read.
 *
 * @param leftOut their names
 * @param openNames the names that are never secrets, so that a secret among them is an accident
 */
export function readWithout<Deployment>(
  value: Deployment,
  leftOut: readonly string[],
  openNames: string,
  warnings: readonly Diagnostic[] = [],
): Checked<Deployment> {
  if (leftOut.length === 0) return accepted(value, warnings);
  const warning = diagnostic("RD409", {
    path: "",
    message: `left out, because a value that routes messages is secret, malformed or not known yet: ${nameSome(leftOut)}`,
    notes: [`${openNames} are no secrets; a secret has reached them by accident`],
    help: "take the value from an input that is not secret, and deploy",
  });
  return accepted(value, [warning, ...warnings]);
}

/** The warning about queues of types that Redeliver does not read. */
export function unreadTypes(
  resources: readonly PulumiResource[],
  types: readonly string[] = [],
): readonly Diagnostic[] {
  const unread = resources.filter(({ type }) => types.includes(type));
  return unread.length === 0
    ? []
    : diagnosed("RD409", {
        path: "",
        message: `left out, because Redeliver does not read ${[...new Set(unread.map(({ type }) => type))].join(", ")}: ${nameSome(unread.map(({ urn }) => nameIn(urn)))}`,
        help: "read the running broker with --url",
      });
}

/**
 * Turns a warning about unread resources into an error: a user can always read their own stack, so something is wrong
 * with it.
 *
 * @param hasOption true if the command has the option to pass over them
 */
export function unreadAsError(warning: Diagnostic, hasOption: boolean): Diagnostic {
  if (warning.code !== "RD409") return warning;
  const { path, message, notes, help } = warning;
  return diagnostic("RD410", {
    path,
    message,
    notes,
    help: `${help ?? "export the stack again"}${hasOption ? `; --${allowUnread} judges the rest alone` : ""}`,
  });
}
