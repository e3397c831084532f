import type { BrokerName, CompiledSystem, ConnectionOf, TargetInput } from "../brokers/index.ts";
import { type Plan, plan } from "../plan/plan.ts";
import { brokerOf, checkTarget } from "../brokers/index.ts";
import { sureSystem } from "../declare/check.ts";
import type { System } from "../declare/system.ts";
import { type Checked, diagnosed, diagnostic } from "../diagnostics/diagnostic.ts";
import { nearest } from "../diagnostics/distance.ts";
import { refused } from "../diagnostics/render.ts";
import { type Proved, provePlan } from "../compile/compile.ts";
import type { Adapter } from "./port/adapter.ts";
import type { ClientLibrary } from "./port/consuming.ts";
import { type Running, runConsumer } from "./run-consumer.ts";
import type { Handler } from "./message.ts";
import { type ConsumeOptions, type Settings, checkConnection, checkOptions } from "./options.ts";

/**
 * Runs a consumer: takes its messages, calls the handler, and settles each message as the contract says.
 *
 * Before the first message it compares the deployed resources with the compiled declaration.
 *
 * @param consumer its name in the declaration, which the type of `system` knows
 * @returns once the consumer takes messages
 * @throws the reason of the option `signal`, if that was aborted before
 * @throws RefusedError if the options or the deployed resources are wrong. No message was taken then
 */
export async function consume<Name extends BrokerName, Body = unknown, Consumer extends string = string>(
  system: System<Consumer>,
  consumer: NoInfer<Consumer>,
  options: ConsumeOptions<Name, Body>,
  handler: Handler<Body>,
): Promise<Running> {
  const { settings, plan: planned, compiled, contract, library } = accept(prepare(system, consumer, options));
  const adapter = await loadAdapter(library);
  const opening = { compiled, contract, connection: settings.connection as never };
  const compileFor = (changed: object): Checked<CompiledSystem> =>
    compileAgain(planned, { ...settings.target, ...changed });
  const { signal } = settings;
  signal.throwIfAborted();
  await adapter.check({ ...opening, compileFor, report: settings.log, givenUp: signal });
  signal.throwIfAborted();
  return runConsumer({ adapter, opening, settings, handler: handler as Handler });
}

interface Prepared {
  readonly settings: Settings;
  /** The plan of this consumer alone. */
  readonly plan: Plan;
  readonly compiled: CompiledSystem;
  readonly contract: CompiledSystem["contracts"][number];
  readonly library: Library;
}

type Library = ClientLibrary<CompiledSystem, TargetInput, ConnectionOf>;

/** Makes all checks that need no connection. */
export function prepare(system: System, consumer: string, options: unknown): Checked<Prepared> {
  const declared = sureSystem(system);
  if (!declared.ok) return declared;
  const settings = checkOptions(consumer, options);
  if (!settings.ok) return settings;
  const proved = proveOne(declared.value, consumer, settings.value.target);
  if (!proved.ok) return proved;
  const { compiled } = proved.value;
  const { consuming } = brokerOf(compiled.topology);
  const contract = compiled.contracts[0] as Prepared["contract"];
  const refusal = consuming.refusalOf?.(contract) ?? null;
  if (refusal !== null) return { ok: false, diagnostics: [refusal] };
  const library = consuming.libraries[contract.protocol];
  const connection = checkConnection(settings.value.connection, library.connection);
  if (!connection.ok) return connection;
  return {
    ok: true,
    warnings: proved.warnings,
    value: { settings: settings.value, plan: proved.value.plan, compiled, contract, library },
  };
}

function accept<Value>(result: Checked<Value>): Value {
  if (!result.ok) throw refused(result.diagnostics);
  return result.value;
}

/** Compiles and proves this consumer alone, because the others make no difference to it. */
function proveOne(system: System, consumer: string, target: TargetInput): Checked<Proved> {
  const isDeclared = typeof consumer === "string" && Object.hasOwn(system.consumers, consumer);
  const declared = isDeclared ? system.consumers[consumer] : undefined;
  if (declared === undefined) {
    const names = Object.keys(system.consumers);
    return {
      ok: false,
      diagnostics: diagnosed("RD801", {
        path: "consumers",
        message: `${system.name} declares no consumer ${typeof consumer === "string" ? JSON.stringify(consumer) : "whose name is not a text"}`,
        notes: [`it declares ${names.join(", ")}`],
        help: nearest(consumer, names) ?? "name one of them, or declare it and deploy before you run it",
      }),
    };
  }
  const checked = checkTarget(target);
  if (!checked.ok) return checked;
  const own = brokerOf(checked.value).targetFor(checked.value, consumer);
  const sources = Object.fromEntries(
    Object.entries(system.sources).filter(([name]) => Object.hasOwn(declared.from ?? {}, name)),
  );
  // A budget is for deployments. A consumer that is deployed keeps running if somebody lowers the budget.
  const alone = Object.freeze({ ...system, sources, consumers: { [consumer]: declared }, limits: undefined });
  return provePlan(plan(alone), own);
}

/**
 * Compiles the same plan for another target, to compare topologies. The consumer does not run by it, so it needs no
 * proof.
 */
function compileAgain(planned: Plan, target: TargetInput): Checked<CompiledSystem> {
  const checked = checkTarget(target);
  return checked.ok ? brokerOf(checked.value).compile(planned, checked.value) : checked;
}

export async function loadAdapter({ name, load }: Pick<Library, "name" | "load">): Promise<Adapter> {
  try {
    return (await load()) as Adapter;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw refused([
      diagnostic("RD803", {
        path: "",
        message: `the client library ${name} is not installed`,
        notes: ["each broker's client is an optional dependency, so you install only the one that you use"],
        help: `npm install ${name}`,
      }),
    ]);
  }
}
