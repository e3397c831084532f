import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { LettersOut } from "../adopt/found.ts";
import { inShell } from "../adopt/in-shell.ts";
import { programsOf } from "../adopt/programs.ts";
import { writeYaml } from "../adopt/write-yaml.ts";
import { brokerOf, parseTarget, type Target } from "../brokers/index.ts";
import { importBlocksOf } from "../deploy/terraform.ts";
import { type Checked, accepted, hasErrors } from "../diagnostics/diagnostic.ts";
import { type Adopted, adoptDeployment, choosePart } from "../migrate/adopt.ts";
import { driftDiagnostics } from "../migrate/judge-drift.ts";
import { againstFound, renderAdoption } from "../report/adoption.ts";
import type { TlsFiles } from "../tls/read-tls-files.ts";
import type { FoundDeployment } from "./audit-source.ts";
import { auditedBrokers, fileOf, readSource, sourcesIn } from "./audit-source.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import { paintOn, print, writeError } from "./output.ts";
import { readPackaged } from "./read-packaged.ts";
import { refuse, say, usage } from "./refuse.ts";
import { UnwritableError, writeWhole } from "./write-file.ts";

/** The options of the command line. Each broker names the options for its files. */
export interface AdoptOptions extends Readonly<Record<string, unknown>> {
  readonly target?: string;
  readonly strategy: string;
  readonly name: string;
  readonly queue?: readonly string[];
  readonly part?: string;
  readonly move?: boolean;
  readonly programs?: boolean;
  readonly output?: string;
  readonly import?: string;
  readonly json?: boolean;
}

/**
 * Infers a declaration from a topology, and writes the declaration and the file of an import. It changes nothing else,
 * and no file that exists.
 *
 * @returns the exit code: fine, refused if nothing can be adopted, usage for wrong usage, incomplete if a queue was left
 *   out, or the input does not show a part or a setting
 */
export async function adoptCommand(options: AdoptOptions): Promise<number> {
  const answer = { json: options.json };
  const sources = sourcesIn(options).filter(
    (each) => each.kind === "stack" || each.audited.broker.adopter !== undefined,
  );
  const [source] = sources;
  if (source === undefined || sources.length > 1) {
    const files = auditedBrokers().flatMap(({ broker, auditor }) =>
      broker.adopter === undefined ? [] : [`--${auditor.file.option} FILE`],
    );
    return usage(`adopt reads one of ${files.join(", ")}, --stack FILE, --terraform-state FILE and --url URL`, answer);
  }
  if (options.programs === true && options.output === undefined)
    return usage("--programs writes files beside the declaration: name that with --output", answer);
  const existing = existingIn([options.output, options.import]);
  if (existing !== null) return usage(existing, answer);
  if (options.output !== undefined && !/\.ya?ml$/.test(options.output))
    return usage(`adopt writes YAML, so ${options.output} needs the ending .yaml`, answer);
  if (options.output !== undefined && options.output === options.import)
    return usage("--output and --import name one file; name two", answer);
  const about = { file: fileOf(source) };
  const read = await readSource(source);
  if (!read.ok) return refuse(read.diagnostics, answer, about, exitCodes.usage);
  const [found, other] = read.value;
  if (found === undefined || other !== undefined)
    return usage("the state has queues of several brokers; adopt one of them from its own export", answer);
  // A resource that was not read can be a way into a queue.
  if (hasErrors(found.warnings)) return refuse(found.warnings, answer, about, exitCodes.usage);
  const { queue: queues = [], part, name } = options;
  const { warnings, audited } = found;
  const first = targetOf(options, found);
  const chosen =
    first.ok && audited.name === first.value.broker
      ? choosePart(found.deployment, first.value, { queues, part })
      : accepted({ name: null, deployment: found.deployment });
  if (!chosen.ok) return refuse(chosen.diagnostics, answer, about, exitCodes.refused);
  const { deployment } = chosen.value;
  // Another region is another target.
  const target = targetOf(options, { ...found, deployment });
  if (!target.ok) return refuse(target.diagnostics, answer, about, exitCodes.usage);
  if (audited.name !== target.value.broker)
    return usage(`the target is one of ${brokerOf(target.value).title}, but the input is of another broker`, answer);
  const adopted = adoptDeployment(deployment, target.value, {
    name,
    queues,
    elsewhere: elsewhereIn(found, chosen.value.name),
    isMoving: options.move === true,
    url: source.kind === "live" ? source.url : undefined,
  });
  if (!adopted.ok) return refuse(adopted.diagnostics, answer, about, exitCodes.refused);
  const all = [...warnings, ...target.warnings, ...adopted.warnings];
  if (options.json !== true && all.length > 0) say(all, {});
  const complete = source.kind === "live" ? withCertificates(adopted.value, source.files) : adopted.value;
  const programs = options.programs === true ? programsFor(complete, options, audited.broker, deployment) : {};
  if (programs === null) return usage(`Redeliver has no programs for ${audited.broker.title} yet`, answer);
  const inTheWay = existingIn(Object.keys(programs));
  if (inTheWay !== null) return usage(inTheWay, answer);
  return write(complete, programs, options, all, forgetting(found, chosen.value.name, adopted.value));
}

function existingIn(files: readonly (string | undefined)[]): string | null {
  const existing = files.find((file) => file !== undefined && existsSync(file));
  return existing === undefined ? null : `${existing} exists, and adopt replaces no file; name another one`;
}

/** The programs around a declaration, by their files. Null if the broker has none. */
function programsFor(
  { draft, proved }: Adopted,
  { output = "", import: importFile }: AdoptOptions,
  { adopter }: FoundDeployment["audited"]["broker"],
  deployment: FoundDeployment["deployment"],
): Readonly<Record<string, string>> | null {
  const templates = adopter?.programsOf?.(deployment, proved.target);
  if (templates === undefined) return null;
  const isImported = importFile !== undefined && !isForTerraform(importFile);
  const settings = { declaration: basename(output), isImported, options: draft.options };
  const files = programsOf(templates, draft.system, settings, readPackaged);
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [join(dirname(output), file), text]));
}

/** The queues that the program of a state only reads. */
function elsewhereIn({ state, audited }: FoundDeployment, part: string | null): readonly string[] {
  const resources = state?.resources ?? [];
  const places = audited.auditor.resources.placesOf(resources);
  return resources.flatMap(({ urn, isExternal = false }) => {
    const [, own, kind, name] = places.get(urn) ?? [];
    return isExternal && kind === "queues" && name !== undefined && (part === null || own === part) ? [name] : [];
  });
}

/** The printed commands need the certificates that the broker was read with. */
function withCertificates(adopted: Adopted, files: TlsFiles): Adopted {
  const given = Object.entries(files).filter(([, file]) => file !== undefined);
  const words = given.map(([option, file]) => ` --${option} ${inShell(String(file))}`).join("");
  const { imports } = adopted;
  const complete = <Way extends { readonly letters: LettersOut | null }>({ letters, ...way }: Way) => ({
    ...way,
    letters: letters && { ...letters, at: letters.at + words },
  });
  return {
    ...adopted,
    imports: { ...imports, moves: imports.moves.map(complete), stays: imports.stays.map(complete) },
  };
}

/**
 * The commands that take what the new deployment writes out of the state. A resource goes before those it needs. Two
 * providers may have resources of one id on two brokers.
 *
 * @param part the adopted one of several
 */
function forgetting(
  { state, audited }: FoundDeployment,
  part: string | null,
  { imports }: Adopted,
): readonly string[] | null {
  if (state === undefined) return null;
  const taken = new Set(imports.present.map(({ type, id }) => `${type} ${id}`));
  const { plainTypeOf, placesOf } = audited.auditor.resources;
  const places = placesOf(state.resources);
  const own = state.resources.filter(({ urn }) => part === null || places.get(urn)?.[1] === part);
  const providers = new Set(own.map(({ provider }) => provider));
  return state.resources
    .filter(
      ({ provider, type, isExternal = false, properties: { id } }) =>
        !isExternal && providers.has(provider) && taken.has(`${plainTypeOf(type)} ${String(id)}`),
    )
    .map(state.tool.forget)
    .toReversed();
}

const isForTerraform = (file: string): boolean => file.endsWith(".tf.json");

/** The target on the command line, or that of the input's own version. */
function targetOf({ target, strategy }: AdoptOptions, { audited, deployment }: FoundDeployment): Checked<Target> {
  if (target !== undefined) return loadTarget(target, strategy);
  const own = audited.auditor.targetOf(deployment);
  if (!own.ok) return own;
  const text = own.value === null ? audited.auditor.newestTarget : audited.broker.formatTarget(own.value);
  const parsed = parseTarget(text, strategy);
  return parsed.ok ? { ...parsed, warnings: [...own.warnings, ...parsed.warnings] } : parsed;
}

async function write(
  adopted: Adopted,
  programs: Readonly<Record<string, string>>,
  { output, import: importFile, json }: AdoptOptions,
  warnings: Adopted["findings"],
  forget: readonly string[] | null,
): Promise<number> {
  const { draft, unsaid, refused, judged, findings, imports, terraformType, added, fixed, upgradeFrom } = adopted;
  const yaml = writeYaml(draft, unsaid);
  const taken = isForTerraform(importFile ?? "")
    ? { import: importBlocksOf(imports.entries, terraformType) }
    : { resources: imports.entries };
  const files = [
    ...(output === undefined ? [] : [[output, yaml] as const]),
    // A file with the component alone imports nothing.
    ...(importFile === undefined || imports.entries.length === 1
      ? []
      : [[importFile, `${JSON.stringify(taken, null, 2)}\n`] as const]),
    ...Object.entries(programs),
  ];
  try {
    for (const [file, text] of files) await writeWhole(file, text);
  } catch (cause) {
    if (cause instanceof UnwritableError) return usage(`a file cannot be written: ${cause.message}`, { json });
    throw cause;
  }
  const isIncomplete = refused.length > 0 || warnings.some(({ code }) => code === "RD409" || code === "RD314");
  const exitCode = isIncomplete ? exitCodes.incomplete : exitCodes.fine;
  if (json === true) {
    const differences = judged ?? [];
    const diagnostics = [...findings, ...driftDiagnostics(differences, againstFound(adopted)), ...warnings];
    const { comments, system, options } = draft;
    const same = imports.entries.length - 1;
    await print({
      ok: true,
      declaration: system,
      comments,
      targetOptions: options,
      unsaid,
      refused,
      upgradeFrom,
      same,
      added,
      left: imports.left.map((each) => {
        const { effect, reason, consumers, trace } = fixed.get(each.place) ?? {};
        return { ...each, effect, reason, consumers, trace };
      }),
      moves: imports.moves,
      stays: imports.stays,
      forget: forget ?? [],
      differences,
      diagnostics,
    });
    return exitCode;
  }
  if (output === undefined) {
    await print(yaml);
    writeError(`\n${renderAdoption(adopted, paintOn(process.stderr), forget)}`);
  } else {
    const target = Object.keys(programs).find((file) => basename(file) === "target.json") ?? null;
    const files = { file: inShell(output), target: target && inShell(target) };
    const written = Object.keys(programs).map((file) => `written   ${file}\n`);
    await print(renderAdoption(adopted, paintOn(process.stdout), forget, files) + written.join(""));
  }
  return exitCode;
}
