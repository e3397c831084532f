import { operationsIn, waysOf } from "../../../contract/interpret.ts";
import type { Contract, Operation, PublishOperation } from "./contract.ts";

type Publishing = Pick<Contract, "outcomes" | "retryAfter">;

/** By contract, because each proof of a change asks for them several times. */
const known = new WeakMap<Publishing, readonly PublishOperation[]>();

/** Every copy that a contract has its consumer publish, for any outcome and attempt, in all of its ways. */
export function publicationsOf(contract: Publishing): readonly PublishOperation[] {
  const all =
    known.get(contract) ??
    operationsIn<Operation>(contract).flatMap((each) => (each.operation === "basic.publish" ? waysOf(each) : []));
  known.set(contract, all);
  return all;
}
