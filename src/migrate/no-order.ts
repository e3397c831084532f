import { type Checked, type Diagnostic, diagnostic, formatPath } from "../diagnostics/diagnostic.ts";

/** The places in the declaration of a person, who knows no consumer that drains. */
export function atDeclared(reasons: readonly Diagnostic[], keys: ReadonlyMap<string, string>): readonly Diagnostic[] {
  const places = [...keys].map((each) => each.map((key) => formatPath(["consumers", key])) as [string, string]);
  return reasons.map((reason) => {
    const [own, drained] = places.find(([, key]) => reason.path === key || reason.path.startsWith(`${key}.`)) ?? [];
    return own === undefined || drained === undefined
      ? reason
      : { ...reason, path: `${own}${reason.path.slice(drained.length)}` };
  });
}

/** Refuses a change that no steps make. */
export function impossible(reasons: readonly Diagnostic[]): Checked<never> {
  const errors = reasons.filter(({ severity }) => severity === "error");
  const problems = errors.map(({ path, message, notes, help }) =>
    diagnostic("RD306", {
      path,
      message: `no order of deployments makes this change: ${message}`,
      notes,
      help:
        help ??
        "declare the changed part under another name beside the old one, and move consumers and publishers to it",
    }),
  );
  return { ok: false, diagnostics: problems };
}
