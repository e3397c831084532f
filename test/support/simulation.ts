import type { Subject } from "../../src/explore/model.ts";
import { brokerOf, compile, parseTarget, plan, type RetryPlan } from "../../src/index.ts";
import { checkScenario } from "../../src/simulate/check-scenario.ts";
import type { ConsumerResult } from "../../src/simulate/result.ts";
import type { Scenario } from "../../src/simulate/scenario.ts";
import { accepted, checked } from "./examples.ts";

/** The consumers of a system for a simulation on a target, and the plan of the first one. */
export function subjectsFor(
  system: unknown,
  target: string,
  strategy = "auto",
): { readonly subjects: readonly Subject<unknown>[]; readonly retry: RetryPlan } {
  const parsed = accepted(parseTarget(target, strategy));
  const compiled = accepted(compile(checked(system), parsed));
  const retry = plan(checked(system)).consumers[0]?.retry;
  if (retry === null || retry === undefined) throw new Error("no retry");
  return { subjects: brokerOf(parsed).subjectsOf(compiled, parsed), retry };
}

/** A checked scenario for those consumers. `hasRetryAfter` lets a handler ask for a delay of its own. */
export function scenarioFor(
  subjects: readonly Pick<Subject<unknown>, "consumer">[],
  input: unknown,
  hasRetryAfter = false,
): Scenario {
  const consumers = subjects.map(({ consumer }) => ({ consumer, hasRetryAfter }));
  return accepted(checkScenario(input, consumers));
}

/** The one consumer of a result. */
export function only(consumers: readonly ConsumerResult[]): ConsumerResult {
  const [consumer] = consumers;
  if (consumer === undefined || consumers.length > 1) throw new Error("not one consumer");
  return consumer;
}
