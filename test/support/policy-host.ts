import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";

import type { ProgramRun, RegisteredResource } from "./pulumi.ts";

const require = createRequire(import.meta.url);
/** Pulumi's own copies, because it checks the class of its messages. */
const pulumiRequire = createRequire(require.resolve("@pulumi/pulumi/package.json"));
const grpc = pulumiRequire("@grpc/grpc-js") as { readonly credentials: { createInsecure(): never } };
/** The used part of google-protobuf, which has no types of its own. */
interface Struct {
  toJavaScript(): Record<string, unknown>;
}
const { Struct } = pulumiRequire("google-protobuf/google/protobuf/struct_pb") as {
  readonly Struct: { fromJavaScript(properties: object): never };
};
const { Empty } = pulumiRequire("google-protobuf/google/protobuf/empty_pb") as { readonly Empty: new () => never };
type Messages = typeof import("@pulumi/pulumi/proto/analyzer_pb.js");
const messages = require("@pulumi/pulumi/proto/analyzer_pb") as Messages;
const { AnalyzerClient } =
  require("@pulumi/pulumi/proto/analyzer_grpc_pb") as typeof import("@pulumi/pulumi/proto/analyzer_grpc_pb.js");

const root = resolve(import.meta.dirname, "../..");
const levels = ["advisory", "mandatory", "disabled", "remediate"] as const;

/** A violation as the engine would receive it. */
export interface ReportedViolation {
  readonly rule: string;
  readonly level: (typeof levels)[number];
  readonly message: string;
  readonly urn: string;
}

/** A policy of the pack as the engine receives it. */
export interface ServedPolicy {
  readonly name: string;
  readonly description: string;
  readonly level: (typeof levels)[number];
  readonly severity: number;
  readonly url: string;
  readonly remediationSteps: string;
  readonly tags: readonly string[];
  /** Undefined if the policy has none. */
  readonly framework: Readonly<Record<"name" | "version" | "reference" | "specification", string>> | undefined;
  readonly settings: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Settings for some policies, as the engine sends them when it has filled in the defaults. */
export type EngineConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A running policy pack, in a process of its own, started as the engine starts it. */
export interface PolicyHost {
  readonly processId: number | undefined;
  readonly served: () => Promise<readonly ServedPolicy[]>;
  readonly configure: (config: EngineConfig) => Promise<void>;
  readonly setStackTags: (tags: Readonly<Record<string, string>>) => Promise<void>;
  /** Asks about each resource by its inputs, as the engine does before it changes the resource. */
  readonly analyze: (resources: readonly RegisteredResource[]) => Promise<ReportedViolation[]>;
  /** Asks about all of them by their outputs, as the engine does at the end. */
  readonly analyzeStack: (run: ProgramRun) => Promise<readonly ReportedViolation[]>;
  readonly remediate: (
    resource: RegisteredResource,
  ) => Promise<readonly { readonly rule: string; readonly properties: unknown }[]>;
  readonly stop: () => Promise<void>;
}

/** The end of a pack that did not load. */
export interface FailedStart {
  readonly exitCode: number | null;
  readonly output: string;
}

/** A pack that starts before the tests of this file or block, and stops after them. @param options as for `startPolicyHost` */
export function policyHost(options: string): () => PolicyHost {
  let host: PolicyHost | undefined;
  beforeAll(async () => {
    host = await startPolicyHost(options);
  });
  afterAll(async () => host?.stop());
  return () => host ?? expect.unreachable();
}

/**
 * Starts a pack with Pulumi's own host.
 *
 * @param options the text of its options file
 * @param pack its folder, from the root of the project
 */
export async function startPolicyHost(options: string, pack = "policies"): Promise<PolicyHost> {
  const started = await start(options, pack);
  if ("exitCode" in started) throw new Error(`the pack did not load (${started.exitCode}): ${started.output}`);
  const { child, port } = started;
  const client = new AnalyzerClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    "grpc.max_send_message_length": -1,
    "grpc.max_receive_message_length": -1,
  });
  return {
    processId: child.pid,
    served: async () => {
      const info = await call<InfoMessage>((done) => client.getAnalyzerInfo(new Empty(), done));
      return info.getPoliciesList().map((policy) => ({
        name: policy.getName(),
        description: policy.getDescription(),
        level: levels[policy.getEnforcementlevel()] ?? "advisory",
        severity: policy.getSeverity(),
        url: policy.getUrl(),
        remediationSteps: policy.getRemediationSteps(),
        tags: policy.getTagsList(),
        framework: policy.getFramework()?.toObject(),
        settings: (policy.getConfigschema()?.getProperties()?.toJavaScript() ?? {}) as ServedPolicy["settings"],
      }));
    },
    configure: async (config) => {
      const request = new messages.ConfigureAnalyzerRequest();
      for (const [name, properties] of Object.entries(config)) {
        const policy = new messages.PolicyConfig();
        const { enforcementLevel = "mandatory", ...others } = properties;
        policy.setEnforcementlevel(levels.indexOf(enforcementLevel as (typeof levels)[number]) as 0 | 1 | 2 | 3);
        policy.setProperties(structOf(others));
        request.getPolicyconfigMap().set(name, policy);
      }
      await call((done) => client.configure(request, done));
    },
    setStackTags: async (tags) => {
      const request = new messages.AnalyzerStackConfigureRequest();
      for (const [name, value] of Object.entries(tags)) request.getTagsMap().set(name, value);
      await call((done) => client.configureStack(request, done));
    },
    analyze: async (resources) => {
      const found: ReportedViolation[] = [];
      for (const resource of resources) {
        const response = await call<AnalyzeMessage>((done) => client.analyze(requestFor(resource), done));
        found.push(...violationsIn(response, resource.urn));
      }
      return found;
    },
    analyzeStack: async (run) => {
      const request = new messages.AnalyzeStackRequest();
      request.setResourcesList(run.resources.map((resource) => stackResource(run, resource)));
      return violationsIn(await call<AnalyzeMessage>((done) => client.analyzeStack(request, done)), "");
    },
    remediate: async (resource) => {
      const response = await call<RemediateMessage>((done) => client.remediate(requestFor(resource), done));
      return response
        .getRemediationsList()
        .map((each) => ({ rule: each.getPolicyname(), properties: each.getProperties()?.toJavaScript() }));
    },
    stop: async () => {
      client.close();
      await ended(child);
    },
  };
}

/** Starts a pack that must not load. */
export async function startRefusedPack(options: string): Promise<FailedStart> {
  const started = await start(options, "policies");
  if ("exitCode" in started) return started;
  await ended(started.child);
  throw new Error("the pack has loaded");
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

/** The host writes the port to its standard output when it listens. Source: `serve` in @pulumi/policy 1.21. */
async function start(options: string, pack: string): Promise<Started | FailedStart> {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-policy-"));
  const file = join(folder, "options.yaml");
  writeFileSync(file, options);
  const child = spawn(process.execPath, [require.resolve("@pulumi/pulumi/cmd/run-policy-pack"), "127.0.0.1:1", "."], {
    cwd: resolve(root, pack),
    env: { ...process.env, REDELIVER_POLICY_OPTIONS: file },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stderr.on("data", (data) => (errors += String(data)));
  return new Promise((done) => {
    child.stdout.on("data", (data) => {
      output += String(data);
      const port = /^(\d+)\n/.exec(output)?.[1];
      if (port !== undefined) done({ child, port: Number(port) });
    });
    child.on("close", (exitCode) => {
      rmSync(folder, { recursive: true, force: true });
      done({ exitCode, output: output + errors });
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = new Promise((done) => child.once("close", done));
  child.kill();
  await closed;
}

interface DiagnosticMessage {
  getPolicyname(): string;
  getEnforcementlevel(): number;
  getMessage(): string;
  getUrn(): string;
}
interface AnalyzeMessage {
  getDiagnosticsList(): DiagnosticMessage[];
}
type InfoMessage = InstanceType<Messages["AnalyzerInfo"]>;
type RemediateMessage = InstanceType<Messages["RemediateResponse"]>;

async function call<Response>(
  send: (done: (error: Error | null, response: Response) => void) => unknown,
): Promise<Response> {
  return new Promise((resolved, rejected) => {
    send((error, response) => (error === null ? resolved(response) : rejected(error)));
  });
}

function violationsIn(response: AnalyzeMessage, urn: string): ReportedViolation[] {
  return response.getDiagnosticsList().map((each) => ({
    rule: each.getPolicyname(),
    level: levels[each.getEnforcementlevel()] ?? "advisory",
    message: each.getMessage(),
    urn: each.getUrn() === "" ? urn : each.getUrn(),
  }));
}

function requestFor(resource: RegisteredResource): InstanceType<Messages["AnalyzeRequest"]> {
  const request = new messages.AnalyzeRequest();
  request.setType(resource.type).setUrn(resource.urn).setName(resource.name);
  request.setProperties(structOf(resource.inputs)).setOptions(optionsOf(resource));
  const provider = providerOf(resource);
  return provider === undefined ? request : request.setProvider(provider);
}

/** As outputs of a component, the engine knows only the registered ones. */
function stackResource(run: ProgramRun, resource: RegisteredResource): InstanceType<Messages["AnalyzerResource"]> {
  const message = new messages.AnalyzerResource();
  const outputs = (resource.custom ? run.resourceOutputs : run.registeredOutputs).get(resource.urn) ?? {};
  message.setType(resource.type).setUrn(resource.urn).setName(resource.name).setParent(resource.parent);
  message.setProperties(structOf(outputs)).setOptions(optionsOf(resource));
  message.setDependenciesList([...resource.dependencies]);
  for (const [property, urns] of Object.entries(resource.propertyDependencies)) {
    message
      .getPropertydependenciesMap()
      .set(property, new messages.AnalyzerPropertyDependencies().setUrnsList([...urns]));
  }
  const provider = providerOf(resource);
  return provider === undefined ? message : message.setProvider(provider);
}

function optionsOf(resource: RegisteredResource): InstanceType<Messages["AnalyzerResourceOptions"]> {
  return new messages.AnalyzerResourceOptions().setProtect(resource.protect).setParent(resource.parent);
}

/** A registered resource refers to its provider by URN and id, with `::` between them. */
function providerOf({ provider }: RegisteredResource): InstanceType<Messages["AnalyzerProviderResource"]> | undefined {
  if (provider === "") return undefined;
  const urn = provider.split("::").slice(0, -1).join("::");
  const name = urn.split("::").at(-1) ?? "";
  return new messages.AnalyzerProviderResource().setUrn(urn).setName(name).setProperties(structOf({}));
}

function structOf(properties: Readonly<Record<string, unknown>>): never {
  return Struct.fromJavaScript(properties);
}
