import { brokerOf } from "../brokers/index.ts";
import type { Leftover } from "../brokers/broker.ts";
import { renderDiagnostics } from "../diagnostics/render.ts";
import { reasonOf } from "../migrate/left-behind.ts";
import { visible } from "../report/visible.ts";
import { auditedBrokers, readSource, sourcesIn } from "./audit-source.ts";
import type { CompiledFor, ForTarget } from "./commands.ts";
import { compileFile, print } from "./commands.ts";
import { exitCodes } from "./run.ts";

/** The options of the command line; those that name a file of a broker have names that the broker gives. */
export type LeftoversOptions = ForTarget & Readonly<Record<string, unknown>>;

/**
 * Shows what a system has left on a broker: what bears its name there and is not declared any more. It only reads.
 *
 * @returns the exit code: fine where there is nothing, refused where there is something, usage where nothing could be read
 */
export async function leftoversCommand(file: string, options: LeftoversOptions): Promise<number> {
  const [source, ...more] = sourcesIn(options);
  if (source === undefined || more.length > 0 || source.kind === "stack") {
    const files = auditedBrokers.map(({ auditor }) => `--${auditor.file.option} FILE`);
    return usage(`leftovers are looked for in one of --url URL and ${files.join(", ")}`, options);
  }
  const compiled = await compileFile(file, options);
  if (!compiled.ok) return compiled.exitCode;
  const { auditor, title, formatTarget } = brokerOf(compiled.target);
  if (auditor === undefined || source.audited.name !== compiled.target.broker)
    return usage(`the target is one of ${title}, and what is to be read is not`, options);
  const found = await readSource(source);
  if (!found.ok) {
    if (options.json === true) await print({ ok: false, diagnostics: found.diagnostics });
    else process.stderr.write(`${renderDiagnostics(found.diagnostics)}\n`);
    // One is for leftovers, and a job that watches for them has to tell the two apart.
    return exitCodes.usage;
  }
  const others = await Promise.all(otherFiles(options).map(async (other) => compileFile(other, options)));
  const refused = others.find((other) => !other.ok);
  if (refused !== undefined && !refused.ok) return refused.exitCode;
  const theirs = new Set(others.flatMap((other) => (other.ok ? namesIn(other) : [])));
  const leftovers = found.value
    .flatMap(({ deployment }) => auditor.leftoversIn(deployment, compiled.value))
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
      : textOf(leftovers, `${compiled.value.topology.system} on ${formatTarget(compiled.target)}`);
  const printed = await print(shown);
  if (printed !== exitCodes.fine) return printed;
  return leftovers.length === 0 ? exitCodes.fine : exitCodes.refused;
}

function otherFiles({ also }: LeftoversOptions): readonly string[] {
  return Array.isArray(also) ? (also as string[]) : [];
}

/** What another system has declared: its name may begin with this one's. */
function namesIn({ target: own, value }: CompiledFor): readonly string[] {
  return brokerOf(own)
    .deployedPartsOf(value)
    .map(({ kind, name }) => `${kind} ${name}`);
}

function textOf(leftovers: readonly (Leftover & ReturnType<typeof reasonOf>)[], system: string): string {
  if (leftovers.length === 0) return `${visible(system)}: everything that bears its name is declared`;
  const blocks = leftovers.map(({ place, kind, name, why, until, removal }) =>
    [
      `${kind} ${visible(name)} in ${visible(place)}`,
      `  why     ${why}`,
      `  needed  until ${until}`,
      ...removal.map((line, index) => `  ${index === 0 ? "remove" : "      "}  ${visible(line)}`),
    ].join("\n"),
  );
  return [
    `${visible(system)}: ${leftovers.length} that nothing declares any more`,
    ...blocks,
    "A system whose name begins with this one's has to be named with --also, or what it has is in this list.",
    "Look whether a queue is empty and has no consumer before you remove it: no broker removes one only if it is so. Remove in this order.",
  ].join("\n\n");
}

function usage(message: string, { json }: LeftoversOptions): number {
  if (json === true) void print({ ok: false, usage: message });
  else process.stderr.write(`error: ${message}\n`);
  return exitCodes.usage;
}
