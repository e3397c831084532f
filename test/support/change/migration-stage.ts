import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Broker, createVhost } from "../live.ts";
import { createManagement, credentialsOf } from "../management.ts";
import { type Said, runSeparately } from "../run-command.ts";

/**
 * A virtual host with a deployed system, its project file, and its lock.
 *
 * @param declaration the system with these properties of the consumer that changes; none of them is deployed
 * @param deployed the target that it is deployed for
 */
export async function stageMigration(
  broker: Broker,
  declaration: (own: object) => object,
  deployed: object = { broker: "rabbitmq", version: broker.version },
) {
  const { vhost, amqpUrl: url, dispose } = await createVhost(broker);
  const management = createManagement(broker.managementUrl);
  const folder = mkdtempSync(join(tmpdir(), "redeliver-migration-"));
  const [shop, project, lock] = ["shop.json", "redeliver.config.yaml", "redeliver.lock.json"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const { origin } = new URL(broker.managementUrl);
  const { user, password } = credentialsOf(broker.managementUrl);
  const environment = { RABBITMQ_USERNAME: user, RABBITMQ_PASSWORD: password };
  const aim = (target: object): void => {
    const prod = { target, managementUrl: `${origin}/${vhost}` };
    writeFileSync(project, JSON.stringify({ declaration: "shop.json", environments: { prod } }));
  };
  aim(deployed);
  const declare = (own: object): void => writeFileSync(shop, JSON.stringify(declaration(own)));
  const redeliver = async (...words: readonly string[]): Promise<Said> =>
    runSeparately([...words, "--project", project], environment);
  declare({});
  const { out } = await redeliver("compile", "--format", "definitions", "--vhost", vhost);
  await management.importDefinitions(JSON.parse(out) as Record<string, unknown>);
  const locked = await redeliver("lock");
  if (locked.code !== 0) throw new Error(locked.error);
  const remove = async (): Promise<void> => {
    rmSync(folder, { recursive: true });
    await dispose();
  };
  return { vhost, url, management, project, lock, environment, declare, aim, redeliver, remove };
}
