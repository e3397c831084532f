import { operationsIn, waysOf } from "../../../contract/interpret.ts";
import type { Contract, Operation, PublishOperation } from "./contract.ts";

/** Every copy that a contract has its consumer publish, for any outcome and attempt, in all of its ways. */
export function publicationsOf(contract: Pick<Contract, "outcomes" | "retryAfter">): readonly PublishOperation[] {
  return operationsIn<Operation>(contract).flatMap((each) => (each.operation === "basic.publish" ? waysOf(each) : []));
}
