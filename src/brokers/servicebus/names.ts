/** The names of everything that is made. A consumer's own resources start with `<system>.<consumer>`. */
export function workQueueName(system: string, consumer: string): string {
  return `${system}.${consumer}`;
}

export function topicName(system: string, source: string): string {
  return `${system}.${source}`;
}

/** The one queue for all dead letters of a system, where it is asked for. */
export function sharedDeadQueueName(system: string): string {
  return `${system}.dead`;
}

/** The tier of one delay, such as `shop.billing.wait.30s`. */
export function tierName(workQueue: string, delay: string): string {
  return `${workQueue}.wait.${delay}`;
}

/** How clients name the dead-letter queue of a queue or subscription. */
export function deadLetterQueue(entity: string): string {
  return `${entity}/$DeadLetterQueue`;
}

/** The rule for one routing key or pattern: its name, with words for the wildcards. */
export function ruleName(pattern: string): string {
  return pattern
    .split(".")
    .map((word) => (word === "*" ? "one-word" : word === "#" ? "any-words" : word))
    .join(".");
}

export const defaultRuleName = "$Default";
