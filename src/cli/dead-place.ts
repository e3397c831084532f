import type { Subject } from "../explore/model.ts";
import { type Target, brokerOf, defaultBroker } from "../brokers/index.ts";
import { describeDeadLetter } from "../consume/dead-letter/describe.ts";
import type { AnyContract } from "../contract/contract.ts";
import { RefusedError } from "../diagnostics/diagnostic.ts";
import { type LetterFacts, factsOf } from "../operate/facts.ts";
import { type Filter, parseFilter } from "../operate/filter.ts";
import type { Letter } from "../operate/letter.ts";
import type { DeadLetters, Operating, OperatingConnection } from "../operate/port.ts";
import { readTlsFiles } from "../tls/read-tls-files.ts";
import { compileFile } from "./commands.ts";
import type { FilterOptions, PlaceOptions } from "./dead-options.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import { refuse, usage } from "./refuse.ts";

/** A dead queue, and the letters in it. */
export interface Place {
  readonly broker: string;
  readonly queue: string;
  /** The broker and its namespace. */
  readonly address: string;
  /** Null for a queue that no declaration names. */
  readonly consumer: string | null;
  readonly contract: AnyContract | undefined;
  /** The consumer's proved model. Undefined for a queue that no declaration names. */
  readonly subject: Subject<unknown> | undefined;
  /** The most redrives of one letter, if the declaration says it. */
  readonly generations: number | undefined;
  readonly operating: Operating;
  readonly letters: DeadLetters;
  readonly factsOf: (letter: Letter) => LetterFacts;
}

type Found = Pick<Place, "broker" | "queue" | "consumer" | "contract" | "generations" | "subject"> & {
  readonly place: string | null;
  readonly load: () => Promise<Operating>;
};

/** Wrong usage, in one sentence. */
export class UsageError extends Error {}

/**
 * Finds the dead queue, connects to its broker, and does the work of a command there.
 *
 * @returns the exit code; that of a refusal if the broker or Redeliver refuses
 */
export async function atPlace(
  file: string | undefined,
  options: PlaceOptions,
  work: (place: Place) => Promise<number>,
): Promise<number> {
  return answering(options, async () => {
    const found = await findPlace(file, options);
    if (typeof found === "number") return found;
    const operating = await loaded(found.load);
    const connection = connectionOf(options, found.place);
    const problem = operating.problemOf(connection);
    if (problem !== null) throw new UsageError(problem);
    const letters = await operating.connect(connection);
    const { contract } = found;
    const facts = (letter: Letter): LetterFacts =>
      factsOf(letter, describeDeadLetter(operating.messageOf(letter), contract));
    try {
      const address = operating.addressOf(connection);
      return await work({ ...found, address, operating, letters, factsOf: facts });
    } finally {
      await letters.close();
    }
  });
}

/** Does the work of a command, and answers with the exit code of a refusal if it is refused. */
export async function answering(options: { readonly json?: boolean }, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof UsageError) return usage(cause.message, options);
    if (cause instanceof RefusedError) return refuse(cause.diagnostics, options, {}, exitCodes.refused);
    throw cause;
  }
}

/** @throws UsageError */
export function filterOf(options: FilterOptions): Filter {
  const filter = parseFilter(options, Date.now());
  if ("problem" in filter) throw new UsageError(filter.problem);
  return filter;
}

async function findPlace(file: string | undefined, options: PlaceOptions): Promise<Found | number> {
  const { queue, target = "", consumer } = options;
  if (queue !== undefined) {
    if (file !== undefined) throw new UsageError("name a declaration or --queue, and not both");
    const known = target === "" ? null : loadTarget(target, options.strategy);
    if (known?.ok === false) return refuse(known.diagnostics, options, {}, exitCodes.refused);
    const broker = known?.value.broker ?? defaultBroker;
    const load = loaderOf({ broker });
    return {
      broker,
      place: known === null ? null : placeIn(known.value),
      queue,
      consumer: null,
      contract: undefined,
      subject: undefined,
      generations: undefined,
      load,
    };
  }
  if (file === undefined || target === "" || consumer === undefined)
    throw new UsageError(
      "name a declaration, --target and --consumer; or --queue for a queue that no declaration names",
    );
  const proved = await compileFile(file, { ...options, target }, loadTarget(target, options.strategy));
  if (!proved.ok) return proved.exitCode;
  const { contracts } = proved.compiled;
  const contract = (contracts as readonly AnyContract[]).find((each) => each.consumer === consumer);
  if (contract === undefined) {
    const declared = contracts.map((each) => each.consumer).join(", ");
    throw new UsageError(
      `no consumer named ${JSON.stringify(consumer)} is declared in ${file}; declared are ${declared}`,
    );
  }
  if (contract.deadQueue === null) throw new UsageError(`the consumer ${consumer} has no dead queue`);
  const load = loaderOf(proved.target);
  const { broker } = proved.target;
  const named = options.parked === true ? contract.parkedQueue : contract.deadQueue;
  if (named === undefined)
    throw new UsageError(`the consumer ${consumer} has no queue for parked letters: declare deadLetter.park`);
  const { generations } = proved.plan.consumers.find((each) => each.consumer === consumer)?.retry ?? {};
  const subjects = brokerOf(proved.target).subjectsOf(proved.compiled, proved.target);
  const subject = subjects.find((each) => each.consumer === consumer);
  return { broker, place: placeIn(proved.target), queue: named, consumer, contract, generations, subject, load };
}

function placeIn(target: Target): string | null {
  return brokerOf(target).placeOf?.(target) ?? null;
}

function loaderOf(target: Parameters<typeof brokerOf>[0]): () => Promise<Operating> {
  const { loadOperating, title } = brokerOf(target);
  if (loadOperating === undefined) throw new UsageError(`dead does not handle letters on ${title} yet`);
  return loadOperating;
}

async function loaded(load: () => Promise<Operating>): Promise<Operating> {
  return load().catch((cause: unknown) => {
    if ((cause as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const library = /'((?:@[\w-]+\/)?[\w-]+)'/.exec(String(cause))?.[1] ?? "";
    throw new UsageError(`the client library is not installed: npm install ${library}`);
  });
}

function connectionOf({ url, managementUrl, ca, cert, key }: PlaceOptions, place: string | null): OperatingConnection {
  const files = readTlsFiles({ ca, cert, key }, process.env["RABBITMQ_KEY_PASSPHRASE"]);
  if ("problem" in files) throw new UsageError(`--${files.problem.part} ${files.problem.message}`);
  const isNone = Object.keys(files.tls).length === 0;
  return { url, managementUrl, place, tls: isNone ? undefined : files.tls };
}
