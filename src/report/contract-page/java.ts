import type { BrokerContract, Outcome } from "../../brokers/contract.ts";

type JudgedContract<Operation> = Pick<
  BrokerContract<Operation>,
  "outcomes" | "retryAfter" | "permanentErrors" | "attempts"
>;

/** The errors by which a handler in Java says more than that it failed. */
export function javaErrors({ retryAfter }: JudgedContract<unknown>): string {
  const handBack = `    /** Throw it where the message was not tried, for example at a shutdown. */
    public static class HandBack extends RuntimeException {}`;
  const asked = `    /** Throw it where the delay is known, for example from a Retry-After header. */
    public static class RetryAfter extends RuntimeException {
        final long delayMs;

        public RetryAfter(long delayMs) {
            super("retry after " + delayMs + " ms");
            this.delayMs = delayMs;
        }
    }`;
  return retryAfter === undefined ? handBack : `${handBack}\n\n${asked}`;
}

/** Runs the handler on `body` and does what its outcome demands. `error` is what it has thrown, or null. */
export function javaSettling<Operation>(
  contract: JudgedContract<Operation>,
  body: string,
  statementOf: (operation: Operation) => string,
): string {
  const { outcomes, retryAfter = [] } = contract;
  const branch = (outcome: Outcome<Operation>): string => javaOf(outcome, 12, statementOf);
  const asked = retryAfter.map(
    (step) =>
      ` else if (error instanceof RetryAfter asked && asked.delayMs <= ${step.upToMs}) {\n${branch(step)}\n        }`,
  );
  return `        Exception error = null;
        try {
            handler.handle(${body}, attempt);
        } catch (Exception thrown) {
            error = thrown;
        }
        if (error == null) {
${branch(outcomes.success)}
        } else if (error instanceof HandBack) {
${branch(outcomes.return)}
        }${asked.join("")} else if (isPermanent(error)) {
${branch(outcomes.permanent)}
        } else {
${branch(outcomes.transient)}
        }`;
}

export function javaIsPermanent({ permanentErrors }: JudgedContract<unknown>): string {
  const names = [...new Set(permanentErrors)].map((name) => JSON.stringify(name)).join(", ");
  return `    /** By the names of an error and of everything that it was thrown from; a chain that is longer is a ring. */
    static boolean isPermanent(Throwable error) {
        Throwable each = error;
        for (int left = 20; each != null && left > 0; left--) {
            if (Set.of(${names}).contains(each.getClass().getSimpleName())) return true;
            each = each.getCause();
        }
        return false;
    }`;
}

/** Puts those of the imports before a text that it uses. */
export function withImports(text: string, imports: readonly string[]): string {
  const used = imports.filter((name) => new RegExp(`\\b${name.split(".").at(-1)}\\b`).test(text));
  return `${used.map((name) => `import ${name};`).join("\n")}\n\n${text}`;
}

/** Every operation that a contract demands, for whatever outcome. */
export function everyOperation<Operation>({
  outcomes,
  retryAfter = [],
}: JudgedContract<Operation>): readonly Operation[] {
  return [...Object.values(outcomes), ...retryAfter].flatMap((outcome) =>
    "byAttempt" in outcome ? outcome.byAttempt.flat() : outcome,
  );
}

/** The statements of an outcome; a switch where they depend on the attempt. */
function javaOf<Operation>(
  outcome: Outcome<Operation>,
  indent: number,
  statementOf: (operation: Operation) => string,
): string {
  const spaces = " ".repeat(indent);
  if (!("byAttempt" in outcome)) return outcome.map((each) => spaces + statementOf(each)).join("\n");
  const cases = outcome.byAttempt.flatMap((operations, index) => [
    // Fewer attempts may have been declared while the message waited, so a number beyond the last is taken for the last.
    `${spaces}    ${index + 1 === outcome.byAttempt.length ? "default" : `case ${index + 1}`} -> {`,
    ...operations.map((each) => `${spaces}        ${statementOf(each)}`),
    `${spaces}    }`,
  ]);
  return [`${spaces}switch (attempt) {`, ...cases, `${spaces}}`].join("\n");
}
