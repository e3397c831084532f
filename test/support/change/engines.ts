import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import amqplib from "amqplib";

import { applyResources } from "../apply-resources.ts";
import type { Broker } from "../live.ts";
import { createManagement, credentialsOf } from "../management.ts";
import type { RegisteredResource } from "../pulumi.ts";
import { noteTaken, refusalOf, type Taken } from "./component-refusal.ts";
import { type Backend, runUpdate, type StateEntry } from "./engine-model.ts";
import { provider } from "./providers.ts";
import { type Deployment, registeredFor } from "./registered.ts";

interface UpOptions {
  readonly skipPreview?: boolean;
  /** Reads the broker first. The model of the engine cannot. */
  readonly refresh?: boolean;
}

/** The engine of a deployment: Pulumi itself, or the model of it. */
export interface Engine {
  /** @returns the error text if the update failed; null if it succeeded */
  readonly up: (deployment: Deployment, options?: UpOptions) => Promise<string | null>;
  readonly destroy: (options?: { readonly skipPreview?: boolean }) => Promise<string | null>;
  readonly unprotect: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const run = promisify(execFile);

/** The engine on PATH also imports. */
export interface ImportingEngine extends Engine {
  readonly backend: string;
  /** The stack by its whole name. */
  readonly stack: string;
  /**
   * Imports the resources of a file, previews a deployment of them, and makes it.
   *
   * @returns the type and the operation of each step of the preview
   */
  readonly takeOver: (deployment: Deployment, file: string) => Promise<readonly (readonly [string, string])[]>;
}

/**
 * The engine on PATH, with a folder as its backend.
 *
 * @param beside another stack in the same folder
 */
export async function pulumiEngine(broker: Broker, beside?: ImportingEngine): Promise<ImportingEngine> {
  const folder = beside?.backend ?? (await mkdtemp(join(tmpdir(), "redeliver-change-")));
  const stack = `change-${randomUUID()}`;
  const file = join(folder, `${stack}.json`);
  const { user, password } = credentialsOf(broker.managementUrl);
  const { origin: endpoint } = new URL(broker.managementUrl);
  const env = {
    ...process.env,
    RABBITMQ_ENDPOINT: endpoint,
    RABBITMQ_USERNAME: user,
    RABBITMQ_PASSWORD: password,
    PULUMI_BACKEND_URL: pathToFileURL(folder).href,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    REDELIVER_CHANGE: file,
  };
  const cwd = fileURLToPath(new URL("program", import.meta.url));
  const pulumi = async (...words: readonly string[]): Promise<string | null> => {
    try {
      await run("pulumi", [...words, "--stack", stack, "--non-interactive"], { cwd, env, maxBuffer: 2 ** 26 });
      return null;
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
      return `${stdout}\n${stderr}`;
    }
  };
  const use = async (deployment: object): Promise<void> =>
    writeFile(file, JSON.stringify({ ...deployment, endpoint, user, password }));
  const failure = await pulumi("stack", "init");
  if (failure !== null) throw new Error(failure);
  const skipping = (skipPreview = false): string[] => (skipPreview ? ["--skip-preview"] : []);
  return {
    backend: folder,
    stack: `organization/redeliver-change/${stack}`,
    up: async (deployment, { skipPreview, refresh = false } = {}) => {
      await use(deployment);
      return pulumi("up", "--yes", ...skipping(skipPreview), ...(refresh ? ["--refresh"] : []));
    },
    takeOver: async (deployment, importFile) => {
      await use({ ...deployment, imported: true });
      const refused = await pulumi("import", "--file", importFile, "--generate-code=false", "--yes");
      if (refused !== null) throw new Error(refused);
      const words = ["preview", "--json", "--show-sames", "--stack", stack, "--non-interactive"];
      const { stdout } = await run("pulumi", words, { cwd, env, maxBuffer: 2 ** 26 });
      const failed = await pulumi("up", "--yes", "--skip-preview");
      if (failed !== null) throw new Error(failed);
      const { steps } = JSON.parse(stdout) as {
        readonly steps: readonly { readonly urn: string; readonly op: string }[];
      };
      return steps.map(({ urn, op }) => [urn.split("::")[2]?.split("$").at(-1) ?? "", op]);
    },
    destroy: async ({ skipPreview } = {}) => pulumi("destroy", "--yes", ...skipping(skipPreview)),
    unprotect: async () => void (await pulumi("state", "unprotect", "--all", "--yes")),
    dispose: async () => {
      await rm(folder, { recursive: true, force: true });
      await rm(join(cwd, `Pulumi.${stack}.yaml`), { force: true });
    },
  };
}

/**
 * The model of the engine, with the management API as its provider. It takes one of several possible next steps at
 * random.
 */
export async function modelledEngine(broker: Broker): Promise<Engine> {
  const backend = liveBackend(broker);
  let state: readonly StateEntry[] = [];
  const taken: Taken = new Map();
  const update = async (to: Deployment | null, skipPreview: boolean): Promise<string | null> => {
    const program = to === null ? [] : await registeredFor(to);
    const result = await runUpdate(state, program, {
      provider,
      backend,
      skipPreview,
      refusal: refusalOf(state, program, taken),
      pick: (count) => Math.floor(Math.random() * count),
    });
    state = result.state;
    noteTaken(state, taken);
    return result.error;
  };
  return {
    up: async (deployment, { skipPreview = false } = {}) => update(deployment, skipPreview),
    destroy: async ({ skipPreview = false } = {}) => update(null, skipPreview),
    unprotect: async () => {
      state = state.map((entry) => ({ ...entry, protect: false }));
    },
    dispose: async () => {},
  };
}

/** The actions of the provider on a broker. */
function liveBackend(broker: Broker): Backend {
  const management = createManagement(broker.managementUrl);
  const put = async (resource: RegisteredResource): Promise<void> =>
    applyResources(management, [{ ...resource, dependencies: [] }]);
  return {
    create: put,
    update: async (_, now) => put(now),
    remove: async ({ type, inputs }) => {
      const vhost = String(inputs["vhost"]);
      if (type.endsWith(":Policy"))
        return management.delete(`policies/${encodeURIComponent(vhost)}/${encodeURIComponent(String(inputs["name"]))}`);
      const url = `${broker.amqpUrl.replace(/\/[^/@]*$/, "")}/${encodeURIComponent(vhost)}`;
      const connection = await amqplib.connect(url);
      try {
        const channel = await connection.createChannel();
        const text = (name: string): string => String(inputs[name]);
        if (type.endsWith(":Exchange")) await channel.deleteExchange(text("name"));
        else if (type.endsWith(":Queue")) await channel.deleteQueue(text("name"));
        else {
          const given = JSON.parse(String(inputs["argumentsJson"] ?? "{}")) as object;
          const unbind = inputs["destinationType"] === "queue" ? channel.unbindQueue : channel.unbindExchange;
          await unbind.call(channel, text("destination"), text("source"), text("routingKey"), given);
        }
      } finally {
        await connection.close();
      }
    },
  };
}
