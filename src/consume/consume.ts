import type { CompiledSystem, TargetInput } from "../brokers/index.ts";
import { brokerOf, checkTarget } from "../brokers/index.ts";
import type { System } from "../declare/system.ts";
import type { Checked } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { refused } from "../diagnostics/render.ts";
import { compile } from "../verify/compile.ts";
import type { Adapter } from "./adapter.ts";
import type { ConsumableName } from "./adapters.ts";
import type { AdapterEntry } from "./adapters.ts";
import { adapters } from "./adapters.ts";
import type { AnyContract } from "./contract.ts";
import type { Running } from "./run-consumer.ts";
import { runConsumer } from "./run-consumer.ts";
import type { Handler } from "./message.ts";
import type { ConsumeOptions, Settings } from "./options.ts";
import { checkConnection, checkOptions } from "./options.ts";

/**
 * Runs a consumer: takes its messages, calls the handler, and does with each message what the consumer's contract says.
 *
 * What is deployed is compared with what the declaration compiles to before the first message is taken.
 *
 * @param consumer its name in the declaration
 * @returns when messages are being taken
 * @throws RefusedError where something is wrong with the options or with what is deployed; then nothing was taken
 */
export async function consume<Name extends ConsumableName, Body = unknown>(
  system: System,
  consumer: string,
  options: ConsumeOptions<Name, Body>,
  handler: Handler<Body>,
): Promise<Running> {
  const { settings, compiled, contract, entry } = accept(prepare(system, consumer, options));
  const adapter = await loadAdapter(entry);
  const opening = { compiled, contract, connection: options.connection as never };
  const compileFor = (target: TargetInput): Checked<CompiledSystem> => compileOne(system, consumer, target);
  await adapter.check({ ...opening, compileFor, report: settings.log });
  return runConsumer({ adapter, opening, settings, handler: handler as Handler });
}

interface Prepared {
  readonly settings: Settings;
  readonly compiled: CompiledSystem;
  readonly contract: AnyContract;
  readonly entry: AdapterEntry;
}

/** All that is looked at before anything is connected. */
export function prepare(system: System, consumer: string, options: unknown): Checked<Prepared> {
  const settings = checkOptions(consumer, options);
  if (!settings.ok) return settings;
  const compiled = compileOne(system, consumer, settings.value.target);
  if (!compiled.ok) return compiled;
  const contract = compiled.value.contracts[0] as AnyContract;
  if ("lambda" in contract) return { ok: false, diagnostics: [runsInFunction(contract)] };
  const entry = adapters[contract.protocol];
  if (entry === undefined) return { ok: false, diagnostics: [notConsumable(contract)] };
  const connection = checkConnection((options as ConsumeOptions).connection, entry.connection);
  if (!connection.ok) return connection;
  return {
    ok: true,
    warnings: compiled.warnings,
    value: { settings: settings.value, compiled: compiled.value, contract, entry },
  };
}

function accept<Value>(result: Checked<Value>): Value {
  if (!result.ok) throw refused(result.diagnostics);
  return result.value;
}

/** Compiles this consumer alone: what becomes of the others makes no difference to it. */
function compileOne(system: System, consumer: string, target: TargetInput): Checked<CompiledSystem> {
  const declared = Object.hasOwn(system.consumers, consumer) ? system.consumers[consumer] : undefined;
  if (declared === undefined) {
    const names = Object.keys(system.consumers);
    return {
      ok: false,
      diagnostics: [
        diagnostic("RD801", {
          path: "consumers",
          message: `${system.name} declares no consumer ${JSON.stringify(consumer)}`,
          notes: [`it declares ${names.join(", ")}`],
          help: "name one of them, or declare it and deploy before it is run",
        }),
      ],
    };
  }
  const checked = checkTarget(target);
  if (!checked.ok) return checked;
  const own = brokerOf(checked.value).targetFor?.(checked.value, consumer) ?? checked.value;
  return compile(Object.freeze({ ...system, consumers: { [consumer]: declared } }), own);
}

export async function loadAdapter(entry: Omit<AdapterEntry, "connection">): Promise<Adapter> {
  try {
    return await entry.load();
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw refused([
      diagnostic("RD803", {
        path: "",
        message: `the client library ${entry.library} is not installed`,
        notes: ["each broker's client is an optional dependency, so that nobody installs all of them"],
        help: `npm install ${entry.library}`,
      }),
    ]);
  }
}

/** Two programs would receive from one queue: each gets a part of the messages, and Lambda's are handled by another code. */
function runsInFunction({ consumer }: AnyContract): ReturnType<typeof diagnostic> {
  return diagnostic("RD809", {
    path: ["target", "lambda", consumer],
    message: `${consumer} is a function of Lambda, which receives its messages`,
    help: `take it out of the target's lambda and deploy, or leave the messages to the function: redeliver contract FILE ${consumer} says what its handler answers`,
  });
}

function notConsumable({ consumer, protocol }: AnyContract): ReturnType<typeof diagnostic> {
  return diagnostic("RD803", {
    path: `consumers.${consumer}`,
    message: `there is no adapter for ${protocol}`,
    help: "drive the client yourself: redeliver contract says which operation each outcome takes",
  });
}
