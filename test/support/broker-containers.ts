import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import { connect } from "amqplib";
import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";
import { type BrokerVersion, docker, ensureImage } from "./broker-images.ts";
import { pickFreePort } from "./free-port.ts";
import type { Broker } from "./live.ts";
import { createManagement, type Management, type QueueInfo } from "./management.ts";

/**
 * A broker in a container of its own. Each test stops the brokers that it starts. A forgotten one ends with the
 * process.
 */
export interface StartedBroker {
  /** The data for tests. It is plain, so that it can go to a test worker. */
  readonly broker: Broker & { readonly containerId: string };
  readonly ports: Ports;
  /** The ports for TLS, if the broker was told to speak it. */
  readonly tlsPorts: Ports;
  /** Runs a command inside the container, such as `rabbitmqctl`; throws with its output when it fails. */
  exec(command: string[]): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Lines for every broker: guest from outside the container, counters fresh enough to assert on, warnings in `docker
 * logs`. The API would close a connection whose first request takes five seconds, and a test may compute for so long
 * between the two. Source: Cowboy, `request_timeout`.
 */
const brokerConfiguration = `
loopback_users = none
default_user = guest
default_pass = guest
collect_statistics_interval = 1000
management.tcp.request_timeout = 600000
vm_memory_high_watermark.absolute = 2GB
disk_free_limit.absolute = 50MB
log.console = true
log.console.level = warning
log.file = false
`;

const amqpPort = 5672;
const managementPort = 15672;
/** With TLS. */
const securePorts = { amqp: 5671, management: 15671 };

/**
 * Starts a broker of the version through testcontainers and waits until it is ready. Its ports are on the loopback
 * interface and stay the same over restarts. Its node name stays the same too, and so does its data.
 */
export async function startBroker(
  version: BrokerVersion,
  report?: (text: string) => void,
  settings: BrokerSettings = {},
): Promise<StartedBroker> {
  const { image, origin } = await ensureImage(version, report);
  const { container, ports, tlsPorts } = await startContainer(image, settings);
  const amqpUrl = `amqp://guest:guest@127.0.0.1:${ports.amqp}`;
  const managementUrl = `http://guest:guest@127.0.0.1:${ports.management}`;
  await waitUntilReady(managementUrl, amqpUrl);
  const { rabbitmq_version: fullVersion } = await createManagement(managementUrl).overview();
  return {
    broker: { version, fullVersion, amqpUrl, managementUrl, origin, containerId: container.getId() },
    ports,
    tlsPorts,
    exec: async (command) => {
      const { exitCode, output } = await container.exec(command);
      if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with code ${exitCode}: ${output}`);
      return output;
    },
    stop: async () => {
      await container.stop({ timeout: 0 });
      ownContainerIds.delete(container.getId());
    },
  };
}

/** The settings that a test may want for its own broker. */
export interface BrokerSettings {
  /** The time until at-least-once dead-lettering tries an unresponsive target again. The default is three minutes. */
  readonly deadLetterAgainMs?: number;
  /** Beside the management API. */
  readonly plugins?: readonly string[];
  /** More lines of rabbitmq.conf. */
  readonly configuration?: string;
  /** By their paths in the container. */
  readonly files?: Readonly<Record<string, string>>;
  /** The Docker volume with its data, and the ports of the broker that had it before. So an upgrade looks like one broker. */
  readonly takeOver?: { readonly volume: string; readonly ports: Ports | null };
  /** Its node in a cluster. All nodes of the cluster start at the same time. */
  readonly cluster?: { readonly network: string; readonly node: string; readonly nodes: readonly string[] };
}

interface Ports {
  readonly amqp: number;
  readonly management: number;
}

/** Another process may take a port after it was found free and before Docker binds it, so this tries again. */
async function startContainer(
  image: string,
  settings: BrokerSettings,
): Promise<{ container: StartedTestContainer; ports: Ports; tlsPorts: Ports }> {
  for (let attempt = 1; ; attempt += 1) {
    const [ports, tlsPorts] = [settings.takeOver?.ports ?? (await pickPorts()), await pickPorts()];
    try {
      return { container: await new BrokerContainer(image, ports, tlsPorts, settings).start(), ports, tlsPorts };
    } catch (error) {
      if (attempt === 3 || !/already (allocated|in use)/.test(String(error))) throw error;
    }
  }
}

async function pickPorts(): Promise<Ports> {
  return { amqp: await pickFreePort(), management: await pickFreePort() };
}

class BrokerContainer extends GenericContainer {
  constructor(image: string, ports: Ports, tlsPorts: Ports, settings: BrokerSettings) {
    const { deadLetterAgainMs, plugins = [], configuration = "", files = {}, cluster, takeOver } = settings;
    super(image);
    removeOwnContainersAtTheEnd();
    this.withExposedPorts(
      { container: amqpPort, host: ports.amqp },
      { container: managementPort, host: ports.management },
      { container: securePorts.amqp, host: tlsPorts.amqp },
      { container: securePorts.management, host: tlsPorts.management },
    )
      .withHostname("broker")
      .withLabels({ [testLabel]: "1", [ownerLabel]: owner(process.pid) })
      .withCopyContentToContainer([
        {
          target: "/etc/rabbitmq/rabbitmq.conf",
          content: brokerConfiguration + configuration + clusterFormation(cluster?.nodes ?? []),
          mode: 0o644,
        },
        {
          target: "/etc/rabbitmq/enabled_plugins",
          content: `[${["rabbitmq_management", ...plugins].join(",")}].\n`,
          mode: 0o644,
        },
        ...Object.entries(files).map(([target, content]) => ({ target, content, mode: 0o644 })),
      ])
      // Not on a request: a request during the start of the plugins would leave a crash report in the broker's log.
      .withWaitStrategy(Wait.forLogMessage(/completed with \d+ plugins/))
      .withStartupTimeout(120_000)
      // The reaper of testcontainers would need an image of its own. The two ways below to remove containers need none.
      .withAutoCleanup(false);
    if (deadLetterAgainMs !== undefined) {
      const content = `[{rabbit, [{dead_letter_worker_publisher_confirm_timeout, ${deadLetterAgainMs}}]}].\n`;
      this.withCopyContentToContainer([{ target: "/etc/rabbitmq/advanced.config", content, mode: 0o644 }]);
    }
    if (cluster !== undefined) {
      this.withNetworkMode(cluster.network).withHostname(cluster.node);
      this.withEnvironment({ RABBITMQ_ERLANG_COOKIE: "redeliver-test" });
    }
    if (takeOver !== undefined) this.hostConfig.Binds = [`${takeOver.volume}:/var/lib/rabbitmq`];
    // testcontainers would bind the ports on every interface of the machine, with a well-known password behind them.
    this.hostConfig.PortBindings = {
      [`${amqpPort}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(ports.amqp) }],
      [`${managementPort}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(ports.management) }],
      [`${securePorts.amqp}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(tlsPorts.amqp) }],
      [`${securePorts.management}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(tlsPorts.management) }],
    };
  }

  protected override async containerCreated(containerId: string): Promise<void> {
    ownContainerIds.add(containerId);
  }
}

function clusterFormation(nodes: readonly string[]): string {
  if (nodes.length === 0) return "";
  const lines = nodes.map((node, index) => `cluster_formation.classic_config.nodes.${index + 1} = rabbit@${node}\n`);
  return `cluster_formation.peer_discovery_backend = classic_config\n${lines.join("")}`;
}

// --- readiness ------------------------------------------------------------------------------------------------------

/**
 * Waits until the broker answers on both protocols and all its queues have a leader. The listeners open one after the
 * other, and a queue becomes available a moment after them. So none of these alone shows that a broker is ready.
 */
export async function waitUntilReady(managementUrl: string, amqpUrl: string, timeoutMs = 90_000): Promise<void> {
  const management = createManagement(managementUrl);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const obstacle = await findObstacle(management, amqpUrl).catch((error: Error) => error.message);
    if (obstacle === undefined) return;
    if (performance.now() > deadline)
      throw new Error(`The broker at ${new URL(amqpUrl).host} is not ready after ${timeoutMs / 1000} s: ${obstacle}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function findObstacle(management: Management, amqpUrl: string): Promise<string | undefined> {
  // First, because a broker opens its AMQP listener last. An open socket would prove nothing, because Docker accepts
  // connections for any mapped port.
  const connection = await connect(amqpUrl, { timeout: 5_000 });
  await connection.close();
  await management.overview();
  const waiting = (await management.queues()).filter((queue) => !isAvailable(queue));
  return waiting.length === 0
    ? undefined
    : `queues not available: ${waiting.map(({ name, state }) => `${name} (${state ?? "no state yet"})`).join(", ")}`;
}

/**
 * A quorum queue of 3.10 reports its state only with its first statistics, ten seconds after a restart. Until then, its
 * list of running nodes is enough.
 */
function isAvailable({ state, online = [] }: QueueInfo): boolean {
  return state === undefined ? online.length > 0 : state === "running";
}

// --- removal --------------------------------------------------------------------------------------------------------

const testLabel = "redeliver-test";
const ownerLabel = "redeliver-test-owner";
const ownContainerIds = new Set<string>();

/**
 * The machine is part of the owner, because several may share one Docker daemon. A process id has no meaning on another
 * machine.
 */
const owner = (processId: number): string => `${hostname()}:${processId}`;

let removalIsArranged = false;

/**
 * Containers outlive the process that started them. This removes them at any end of the process, unless it is killed
 * outright.
 */
function removeOwnContainersAtTheEnd(): void {
  if (removalIsArranged) return;
  removalIsArranged = true;
  process.once("exit", removeOwnContainers);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      removeOwnContainers();
      // Without this listener the signal has its default effect again, or that of the next listener.
      process.kill(process.pid, signal);
    });
  }
}

function removeOwnContainers(): void {
  if (ownContainerIds.size === 0) return;
  const containerIds = [...ownContainerIds];
  ownContainerIds.clear();
  try {
    execFileSync("docker", ["rm", "--force", "--volumes", ...containerIds], { stdio: "ignore" });
  } catch {
    // The next run removes the remaining ones.
  }
}

/** Removes the containers of earlier runs that were killed outright. */
export async function removeAbandonedContainers(): Promise<void> {
  const shown = ["--filter", `label=${testLabel}=1`, "--format", `{{.ID}} {{.Label "${ownerLabel}"}}`];
  const listing = await docker("ps", "--all", ...shown);
  const abandoned = listing.split("\n").flatMap((line) => {
    const [containerId, containerOwner] = line.split(" ");
    if (containerId === undefined || containerOwner === undefined) return [];
    const processId = Number(containerOwner.split(":").at(-1));
    return containerOwner === owner(processId) && !isAlive(processId) ? [containerId] : [];
  });
  if (abandoned.length > 0) await docker("rm", "--force", "--volumes", ...abandoned);
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
