import { sqsLimits } from "./capabilities.ts";

/** The names of everything that is made for a consumer. A consumer's own resources start with `<system>-<consumer>`. */
export interface ConsumerNames {
  readonly workQueue: string;
  readonly dead: string;
  /** Where a topic puts what it cannot hand over to the work queue. */
  readonly undelivered: string;
}

export function consumerNames(system: string, consumer: string, fifo: boolean): ConsumerNames {
  const base = `${system}-${consumer}`;
  const suffix = fifo ? sqsLimits.fifoSuffix : "";
  return Object.freeze({
    workQueue: `${base}${suffix}`,
    dead: `${base}-dead${suffix}`,
    undelivered: `${base}-undelivered${suffix}`,
  });
}

export function topicName(system: string, source: string, fifo: boolean): string {
  return `${system}-${source}${fifo ? sqsLimits.fifoSuffix : ""}`;
}

/** The alarm on the depth of a queue, or on what is received from it. */
export function alarmName(queue: string, watched: "depth" | "received"): string {
  return `${queue}-${watched}`;
}
