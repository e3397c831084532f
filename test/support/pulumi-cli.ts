import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Stack } from "@pulumi/pulumi/automation/index.js";

import type { Broker } from "./live.ts";
import { credentialsOf } from "./management.ts";

/** True if there is a `pulumi` on PATH. No package registry has it. */
export const hasPulumiCli = (process.env["PATH"] ?? "")
  .split(delimiter)
  .some((folder) => isExecutable(join(folder, "pulumi")));

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The settings that differ between stacks. The password is a separate secret. */
export function configOf(broker: Broker, vhost: string): Record<string, unknown> {
  const endpoint = new URL(broker.managementUrl);
  endpoint.username = "";
  endpoint.password = "";
  return {
    "redeliver:target": { broker: "rabbitmq", version: broker.fullVersion },
    "redeliver:vhost": vhost,
    "redeliver:endpoint": endpoint.href,
    "redeliver:username": credentialsOf(broker.managementUrl).user,
  };
}

/** A stack of this project's own program, in a backend that is a folder. */
export interface CliStack {
  readonly stack: Stack;
  /** Runs the command in the project's folder with that backend; throws with its output if it fails. */
  readonly pulumi: (...words: readonly string[]) => Promise<string>;
  readonly remove: () => Promise<void>;
}

/**
 * Creates a stack that deploys the example to a virtual host of a broker.
 *
 * @param more keys of the configuration, in the place of those that follow from the broker
 */
export async function createCliStack(
  broker: Broker,
  vhost: string,
  more: Readonly<Record<string, string>> = {},
): Promise<CliStack> {
  const { LocalWorkspace } = await import("@pulumi/pulumi/automation/index.js");
  const folder = await mkdtemp(join(tmpdir(), "redeliver-deployment-"));
  const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
  const stackName = `deployment-test-${randomUUID()}`;
  const envVars = {
    PULUMI_BACKEND_URL: pathToFileURL(folder).href,
    PULUMI_CONFIG_PASSPHRASE: randomUUID(),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const stack = await LocalWorkspace.createStack({ stackName, workDir: projectFolder }, { envVars });
  for (const [key, value] of Object.entries({ ...configOf(broker, vhost), ...more })) {
    if (typeof value === "string") await stack.setConfig(key, { value });
    else
      for (const [name, part] of Object.entries(value as object))
        await stack.setConfig(`${key}.${name}`, { value: String(part) }, true);
  }
  await stack.setConfig("redeliver:password", { value: credentialsOf(broker.managementUrl).password, secret: true });
  return {
    stack,
    pulumi: async (...words) => {
      const env = { ...process.env, ...envVars };
      // A preview of all resources as JSON has some megabytes.
      const { stdout } = await promisify(execFile)("pulumi", words, { cwd: projectFolder, env, maxBuffer: 2 ** 28 });
      return stdout;
    },
    remove: async () => {
      await stack.workspace.removeStack(stackName, { force: true });
      await rm(join(projectFolder, "stacks", `Pulumi.${stackName}.yaml`), { force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}
