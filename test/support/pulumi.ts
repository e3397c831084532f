import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import * as pulumi from "@pulumi/pulumi";

import { RetryTopology } from "../../src/brokers/rabbitmq/make/index.ts";
import { compile, type System, type TargetInput, type Topology } from "../../src/index.ts";
import { assignedByAzure } from "./assigned-by-azure.ts";
import { assignedByAws } from "./sqs/assigned-by-aws.ts";

/** A resource as the program registered it, with the options that Pulumi's own mocks hide. */
export interface RegisteredResource {
  readonly urn: string;
  /** The provider's type, such as `rabbitmq:index/queue:Queue`. */
  readonly type: string;
  readonly name: string;
  /** False for components and the stack itself. */
  readonly custom: boolean;
  /** In the engine's form: a secret is an object with Pulumi's signature, not its value. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The parent's URN; empty for the stack. */
  readonly parent: string;
  /** The provider's URN and id; empty for the default provider and for components. */
  readonly provider: string;
  readonly protect: boolean;
  readonly retainOnDelete: boolean;
  /** The URN of the resource that it is deleted together with; empty for none. */
  readonly deletedWith?: string;
  /** The program's choice; undefined if it leaves the choice to the provider. */
  readonly deleteBeforeReplace?: boolean | undefined;
  /** The inputs that keep the values of the state. */
  readonly ignoreChanges?: readonly string[];
  /** The URNs of all its dependencies, from `dependsOn` and from outputs among its inputs. */
  readonly dependencies: readonly string[];
  /** The same per input, only from outputs among the inputs. */
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  /** The names that it had before. */
  readonly formerNames?: readonly string[];
  /** The place in the program that created it, as the engine writes it into the state. */
  readonly sourcePosition?: string;
}

export interface ProgramRun {
  /** In the order of registration, the stack first. */
  readonly resources: readonly RegisteredResource[];
  /** The mocks' answer for a resource, by its URN: its inputs, and the values that AWS would assign. */
  readonly resourceOutputs: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The outputs that a component passed to `registerOutputs`, by its URN. */
  readonly registeredOutputs: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The program's exports; undefined if it failed. */
  readonly outputs: Readonly<Record<string, unknown>> | undefined;
  /** The error that ended the program; undefined if it reached its end. */
  readonly error: Error | undefined;
  /** Every line of output during the run. */
  readonly log: readonly string[];
}

export interface ProgramOptions {
  readonly project?: string;
  readonly stack?: string;
  readonly preview?: boolean;
  /** With its namespace, as in a stack's file; mappings as objects. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The answer of a provider that is asked for a resource, beside the question. */
  readonly shown?: Readonly<Record<string, unknown>>;
  /** The keys of `config` that the stack's file holds encrypted. */
  readonly secretKeys?: readonly string[];
}

/**
 * The part of the SDK that exists at run time but not in its types. All access to Pulumi's internals is in this file.
 */
interface Internals {
  readonly waitForRPCs: () => Promise<void>;
  readonly getMonitor: () => Monitor;
}
interface Monitor {
  registerResource(
    request: RegisterRequest,
    callback: (error: unknown, response?: RegisterResponse) => void,
  ): Promise<void>;
  registerResourceOutputs(request: OutputsRequest, callback: (error: unknown, response?: unknown) => void): void;
}
interface RegisterResponse {
  getUrn(): string;
  getObject(): Struct | undefined;
}
interface Struct {
  toJavaScript(): Record<string, unknown>;
}
interface RegisterRequest {
  getType(): string;
  getName(): string;
  getCustom(): boolean;
  getObject(): Struct;
  getParent(): string;
  getProvider(): string;
  getProtect(): boolean;
  getRetainondelete(): boolean;
  getDeletedwith(): string;
  getDeletebeforereplace(): boolean;
  getDeletebeforereplacedefined(): boolean;
  getIgnorechangesList(): string[];
  getDependenciesList(): string[];
  getAliasesList(): { getSpec(): { getName(): string } | undefined }[];
  getAliasurnsList(): string[];
  getSourceposition(): { getUri(): string; getLine(): number; getColumn(): number } | undefined;
  getPropertydependenciesMap(): { forEach(visit: (urns: { getUrnsList(): string[] }, property: string) => void): void };
}
interface OutputsRequest {
  getUrn(): string;
  getOutputs(): Struct;
}

const internals = pulumi.runtime as unknown as Internals;

/**
 * Runs a program under Pulumi's mocks and waits until every resource is registered. A resource's outputs are its
 * inputs, and the values that AWS or Azure would assign. Only one program runs at a time, because the mocks belong to
 * the process.
 *
 * @throws Error if a resource cannot be registered; an error of the program itself is in the result
 */
export async function runProgram(program: () => unknown, options: ProgramOptions = {}): Promise<ProgramRun> {
  const config = Object.entries(options.config ?? {}).map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  pulumi.runtime.setAllConfig(Object.fromEntries(config) as Record<string, string>, [...(options.secretKeys ?? [])]);
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => ({
        id: `${name}-id`,
        state: {
          ...inputs,
          // Another stack is there, and has no output.
          ...(type === "pulumi:pulumi:StackReference" && { outputs: {} }),
          ...assignedByAws(type, inputs as Readonly<Record<string, unknown>>, name),
          ...assignedByAzure(type, inputs as Readonly<Record<string, unknown>>),
        },
      }),
      call: ({ inputs }) => ({ ...inputs, ...options.shown }),
    },
    options.project ?? "redeliver",
    options.stack ?? "test",
    options.preview ?? false,
  );
  const recorded = record(internals.getMonitor());
  const log: string[] = [];
  const restoreConsole = captureConsole(log);
  let outputs: ProgramRun["outputs"];
  let error: Error | undefined;
  // Keeps the program's error from the stack. The stack would pass it on to promises without a handler.
  const caught = async (): Promise<unknown> => {
    try {
      return await program();
    } catch (thrown) {
      error = thrown as Error;
      return {};
    }
  };
  try {
    outputs = (await pulumi.runtime.runInPulumiStack(caught)) as ProgramRun["outputs"];
    await internals.waitForRPCs();
  } finally {
    restoreConsole();
  }
  return { ...recorded, outputs: error === undefined ? outputs : undefined, error, log };
}

/** Records the requests to the monitor. */
function record(monitor: Monitor): Pick<ProgramRun, "resources" | "resourceOutputs" | "registeredOutputs"> {
  const resources: RegisteredResource[] = [];
  const resourceOutputs = new Map<string, Record<string, unknown>>();
  const registeredOutputs = new Map<string, Record<string, unknown>>();
  const register = monitor.registerResource.bind(monitor);
  const registerOutputs = monitor.registerResourceOutputs.bind(monitor);
  monitor.registerResource = async (request, callback) =>
    register(request, (failure, response) => {
      if (response !== undefined) {
        resources.push(describe(request, response.getUrn()));
        resourceOutputs.set(response.getUrn(), response.getObject()?.toJavaScript() ?? {});
      }
      callback(failure, response);
    });
  monitor.registerResourceOutputs = (request, callback) => {
    registeredOutputs.set(request.getUrn(), request.getOutputs().toJavaScript());
    registerOutputs(request, callback);
  };
  return { resources, resourceOutputs, registeredOutputs };
}

function describe(request: RegisterRequest, urn: string): RegisteredResource {
  const propertyDependencies: Record<string, string[]> = {};
  request.getPropertydependenciesMap().forEach((urns, property) => {
    propertyDependencies[property] = urns.getUrnsList();
  });
  return {
    urn,
    type: request.getType(),
    name: request.getName(),
    custom: request.getCustom(),
    inputs: request.getObject().toJavaScript(),
    parent: request.getParent(),
    provider: request.getProvider(),
    protect: request.getProtect(),
    retainOnDelete: request.getRetainondelete(),
    deletedWith: request.getDeletedwith(),
    deleteBeforeReplace: request.getDeletebeforereplacedefined() ? request.getDeletebeforereplace() : undefined,
    ignoreChanges: request.getIgnorechangesList(),
    dependencies: request.getDependenciesList(),
    propertyDependencies,
    formerNames: [
      ...request.getAliasesList().map((alias) => alias.getSpec()?.getName() ?? ""),
      ...request.getAliasurnsList().map((urn) => urn.split("::").at(-1) ?? ""),
    ],
    ...sourcePositionOf(request),
  };
}

/**
 * As the engine writes it: a path from the project's folder. Source: `parseSourcePosition` in `source_eval.go` of
 * Pulumi.
 */
function sourcePositionOf(request: RegisterRequest): { readonly sourcePosition?: string } {
  const position = request.getSourceposition();
  if (position === undefined) return {};
  const path = relative(resolve(import.meta.dirname, "../.."), fileURLToPath(position.getUri()));
  return { sourcePosition: `project:///${path}#${position.getLine()},${position.getColumn()}` };
}

/** Without an engine the SDK writes its messages to the console. */
function captureConsole(lines: string[]): () => void {
  const methods = ["log", "info", "warn", "error", "debug"] as const;
  const originals = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) console[method] = (...parts: unknown[]) => void lines.push(parts.map(String).join(" "));
  return () => {
    for (const [method, original] of originals) console[method] = original;
  };
}

let runs = 0;

/** The program that `pulumi up` runs, evaluated afresh: its module creates resources while it is imported. */
export async function stackProgram(): Promise<unknown> {
  runs += 1;
  const module = new URL(`../../stacks/index.ts?run=${runs}`, import.meta.url).href;
  return { ...((await import(/* @vite-ignore */ module)) as Record<string, unknown>) };
}

/** True if a value among the inputs is one of Pulumi's secrets. */
export function isSecretInput(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && Object.values(value).includes("1b47061264138c4ac30d75fd1eb44270")
  );
}

/** The resources of one provider type, by the end of the type: `Queue`, `Binding`. */
export function resourcesOf(run: ProgramRun, kind: string): RegisteredResource[] {
  return run.resources.filter(({ type }) => type.endsWith(`:${kind}`));
}

/** Registers a system as the component "shop" in the vhost "a vhost", which is an output of another resource. */
export async function register(
  system: System,
  version: string,
  preview = false,
  more: Pick<TargetInput<"rabbitmq">, "deadQueue"> = {},
): Promise<ProgramRun> {
  const run = await runProgram(
    () => {
      const target = { broker: "rabbitmq", version, ...more } as const;
      const { contracts, workQueues } = new RetryTopology("shop", { system, target, vhost: pulumi.output("a vhost") });
      return { contracts, workQueues };
    },
    { preview },
  );
  if (run.error !== undefined) throw run.error;
  return run;
}

/** The topology that has to be registered for it. */
export function topologyOf(system: System, version: string): Topology {
  const compiled = compile(system, { broker: "rabbitmq", version });
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join("\n"));
  return compiled.value.topology;
}
