import { brokerOf } from "../brokers/index.ts";
import type { Leftover } from "../brokers/deployed-part.ts";
import { reasonOf } from "../migrate/left-behind.ts";
import { visible } from "../diagnostics/visible.ts";
import { auditedBrokers, fileOf, readSource, sourcesIn } from "./audit-source.ts";
import { type ForTarget, compileFile, compilePlan, loadPlan } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { environmentsBeside } from "./load-target.ts";
import { targetFor } from "./lock-file.ts";
import { print } from "./output.ts";
import { ended, refuse, usage } from "./refuse.ts";

/** The options of the command line. Each broker names the options for its files. */
export type LeftoversOptions = ForTarget & Readonly<Record<string, unknown>>;

/**
 * Shows a system's leftovers on a broker: its resources that it no longer declares. It only reads.
 *
 * @returns the exit code: fine without leftovers, refused with some, usage if it could read nothing
 */
export async function leftoversCommand(file: string, options: LeftoversOptions): Promise<number> {
  const [source, ...more] = sourcesIn(options);
  if (source === undefined || more.length > 0 || source.kind === "stack") {
    const files = auditedBrokers().map(({ auditor }) => `--${auditor.file.option} FILE`);
    return usage(`leftovers reads one of --url URL and ${files.join(", ")}`, options);
  }
  const proved = await compileFile(file, options);
  if (!proved.ok) return proved.exitCode;
  const { auditor, title, formatTarget } = brokerOf(proved.target);
  if (auditor === undefined || source.audited.name !== proved.target.broker)
    return usage(`the target is one of ${title}, but the input is of another broker`, options);
  const read = await readSource(source);
  // Exit code 1 means leftovers. A job that watches for them must see the difference.
  if (!read.ok) return refuse(read.diagnostics, options, { file: fileOf(source) }, exitCodes.usage);
  const [also, earlier, environments] = await Promise.all([
    compileFiles(options["also"], options),
    compileFiles(options["from"], options),
    Promise.all(environmentsBeside(options.target).map(async (target) => compileBeside(file, target, options))),
  ]);
  const others = [...also, ...environments];
  const refused = [...others, ...earlier].find((other) => !other.ok);
  if (refused !== undefined && !refused.ok) return refused.exitCode;
  // Names of another system may begin with this one's, and those of another environment may be in the same place.
  const theirs = others.flatMap((other) =>
    other.ok && other.target.broker === proved.target.broker ? [other.compiled] : [],
  );
  const before = earlier.flatMap((each) => (each.ok ? [each.compiled] : []));
  const found = read.value.flatMap(({ deployment }) =>
    auditor.leftoversIn(deployment, proved.compiled, before, theirs),
  );
  const leftovers = found.map((each) => {
    const { place, kind, name, removal } = each;
    return { place, kind, name, ...reasonOf(each), removal };
  });
  const system = `${proved.compiled.topology.system} on ${formatTarget(proved.target)}`;
  const shown = options.json === true ? { leftovers } : textOf(leftovers, system);
  return ended(await print(shown), leftovers.length === 0 ? exitCodes.fine : exitCodes.refused);
}

/** Nobody asked for the warnings of another environment. */
async function compileBeside(file: string, target: string, options: LeftoversOptions) {
  const planned = await loadPlan(file, target);
  return compilePlan(file, planned, targetFor(planned, target, options.strategy), options);
}

async function compileFiles(
  files: unknown,
  options: LeftoversOptions,
): Promise<readonly Awaited<ReturnType<typeof compileFile>>[]> {
  return Promise.all((Array.isArray(files) ? (files as string[]) : []).map(async (file) => compileFile(file, options)));
}

function textOf(
  leftovers: readonly (Pick<Leftover, "place" | "kind" | "name" | "removal"> & ReturnType<typeof reasonOf>)[],
  system: string,
): string {
  if (leftovers.length === 0) return `${visible(system)}: all its resources are declared`;
  const blocks = leftovers.map(({ place, kind, name, why, until, removal }) =>
    [
      `${kind} ${visible(name)} in ${visible(place)}`,
      `  why     ${why}`,
      `  needed  until ${until}`,
      ...removal.map((line, index) => `  ${index === 0 ? "remove" : "      "}  ${visible(line)}`),
    ].join("\n"),
  );
  return [
    `${visible(system)}: ${leftovers.length} ${leftovers.length === 1 ? "resource is" : "resources are"} no longer declared`,
    ...blocks,
    "If names of another system begin with this one's, name it with --also. Otherwise this list has its resources too.",
    "Before you delete a queue, check that it is empty and has no consumer: the broker does not check. Delete in this order.",
  ].join("\n\n");
}
