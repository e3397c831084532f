const mostAtAnEnd = 12;

/**
 * Numbers the steps of a message. Of a long way it has the beginning and the end: a message that dies after 1,000
 * deliveries takes 2,000 steps.
 */
export function numberedSteps(steps: readonly string[]): readonly string[] {
  const lines = steps.map((step, index) => `${index + 1}. ${step}`);
  const left = lines.length - 2 * mostAtAnEnd;
  if (left <= 1) return lines;
  return [...lines.slice(0, mostAtAnEnd), `… ${left} more steps`, ...lines.slice(-mostAtAnEnd)];
}
