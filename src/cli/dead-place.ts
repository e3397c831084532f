import { setFlagsFromString } from "node:v8";

import { type Target } from "../brokers/index.ts";
import {
  type DeadQueue,
  type FoundQueue,
  connectQueue,
  declaredQueue,
  namedQueue,
} from "../dead-letters/dead-queue.ts";
import { UsageError } from "../dead-letters/usage-error.ts";
import { RefusedError } from "../diagnostics/diagnostic.ts";
import type { OperatingConnection } from "../operate/port.ts";
import { readTlsFiles } from "../tls/read-tls-files.ts";
import { compilePlan, loadPlan } from "./commands.ts";
import type { PlaceOptions } from "./dead-options.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadTarget } from "./load-target.ts";
import { refuse, usage } from "./refuse.ts";

/**
 * Finds the dead queue, connects to its broker, and does the work of a command there.
 *
 * @returns the exit code; that of a refusal if the broker or Redeliver refuses
 */
export async function atPlace(
  file: string | undefined,
  options: PlaceOptions,
  work: (dead: DeadQueue) => Promise<number>,
): Promise<number> {
  return answering(options, async () => {
    const found = await findQueue(file, options);
    if (typeof found === "number") return found;
    // Letters come and go by the hundred thousand. So the collector would let its young space grow to 150 MB of garbage.
    setFlagsFromString("--optimize-for-size");
    const dead = await connectQueue(found, connectionOf(options));
    try {
      return await work(dead);
    } finally {
      await dead.letters.close();
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

/** @returns the exit code if the declaration or the target is refused */
async function findQueue(file: string | undefined, options: PlaceOptions): Promise<FoundQueue | number> {
  const { queue, target = "", consumer, workQueue = null, parked = false, failedIn } = options;
  if (queue !== undefined && file === undefined && consumer === undefined) {
    if (target === "") return namedQueue(queue, null, workQueue);
    const known = loadTarget(target, options.strategy);
    if (!known.ok) return refuse(known.diagnostics, options, {}, exitCodes.refused);
    return namedQueue(queue, known.value as Target, workQueue);
  }
  if (workQueue !== null) throw new UsageError("name the dead queue with --queue: a declaration has the work queue");
  if (file === undefined || target === "" || consumer === undefined)
    throw new UsageError(
      "name a declaration, --target and --consumer; or --queue for a queue that no declaration names",
    );
  // Warnings are for people who deploy. At night they would hide the answer.
  const proved = await compilePlan(file, await loadPlan(file, target), loadTarget(target, options.strategy), options);
  return proved.ok ? declaredQueue(proved, consumer, parked, queue, failedIn) : proved.exitCode;
}

function connectionOf({ url, managementUrl, ca, cert, key }: PlaceOptions): Omit<OperatingConnection, "place"> {
  const files = readTlsFiles({ ca, cert, key }, process.env["RABBITMQ_KEY_PASSPHRASE"]);
  if ("problem" in files) throw new UsageError(`--${files.problem.part} ${files.problem.message}`);
  const isNone = Object.keys(files.tls).length === 0;
  return { url, managementUrl, tls: isNone ? undefined : files.tls };
}
