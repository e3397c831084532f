import { brokerOf } from "../brokers/index.ts";
import type { Leftover } from "../brokers/broker.ts";
import { reasonOf } from "../migrate/left-behind.ts";
import { visible } from "../diagnostics/visible.ts";
import { auditedBrokers, readSource, sourcesIn } from "./audit-source.ts";
import type { ForTarget, ProvedFile } from "./commands.ts";
import { compileFile } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
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
  const found = await readSource(source);
  // Exit code 1 means leftovers. A job that watches for them must see the difference.
  if (!found.ok) return refuse(found.diagnostics, options, {}, exitCodes.usage);
  const [others, earlier] = await Promise.all(
    [options["also"], options["from"]].map(async (files) => compileFiles(files, options)),
  );
  const refused = [...(others ?? []), ...(earlier ?? [])].find((other) => !other.ok);
  if (refused !== undefined && !refused.ok) return refused.exitCode;
  const theirs = new Set(others?.flatMap((other) => (other.ok ? namesIn(other) : [])));
  const before = earlier?.flatMap((each) => (each.ok ? [each.compiled] : [])) ?? [];
  const leftovers = found.value
    .flatMap(({ deployment }) => auditor.leftoversIn(deployment, proved.compiled, before))
    .filter(({ kind, name }) => !theirs.has(`${kind} ${name}`))
    .map((each) => ({ ...each, ...reasonOf(each) }));
  const shown =
    options.json === true
      ? {
          leftovers: leftovers.map(({ place, kind, name, why, until, removal }) => ({
            place,
            kind,
            name,
            why,
            until,
            removal,
          })),
        }
      : textOf(leftovers, `${proved.compiled.topology.system} on ${formatTarget(proved.target)}`);
  return ended(await print(shown), leftovers.length === 0 ? exitCodes.fine : exitCodes.refused);
}

async function compileFiles(
  files: unknown,
  options: LeftoversOptions,
): Promise<readonly Awaited<ReturnType<typeof compileFile>>[]> {
  return Promise.all((Array.isArray(files) ? (files as string[]) : []).map(async (file) => compileFile(file, options)));
}

/** The resources that another system declares. Their names may begin with this one's. */
function namesIn({ target, compiled }: ProvedFile): readonly string[] {
  return brokerOf(target)
    .deployedPartsOf(compiled)
    .map(({ kind, name }) => `${kind} ${name}`);
}

function textOf(leftovers: readonly (Leftover & ReturnType<typeof reasonOf>)[], system: string): string {
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
