import type { LosingType } from "../brokers/broker.ts";
import type { Entry } from "../brokers/entries.ts";
import type { BrokerName } from "../brokers/index.ts";
import { brokerOf, brokers } from "../brokers/index.ts";

const readers = (Object.keys(brokers) as BrokerName[]).flatMap(
  (broker) => brokerOf({ broker }).auditor?.resources ?? [],
);

const losingTypes: Readonly<Record<string, LosingType>> = Object.assign(
  {},
  ...readers.map((reader) => reader.losingTypes),
) as Readonly<Record<string, LosingType>>;

/** The types of resources that messages lie in. */
export const holdingTypes: readonly string[] = Object.keys(losingTypes).filter((type) => losingTypes[type]?.holds);

/** The types of resources that messages are lost with. */
export const typesWithLoss: readonly string[] = Object.keys(losingTypes);

/** What is lost with a resource; null where that is nothing, or where too little of it is known. */
export function lossOf(type: string, properties: Entry): LosingType | null {
  const own = plainTypeOf(type);
  const losing = Object.hasOwn(losingTypes, own) ? losingTypes[own] : undefined;
  return losing === undefined || losing.isTemporary(properties) ? null : losing;
}

/** The type without the version of an API: `azure-native:servicebus/v20240101:Queue` is an `azure-native:servicebus:Queue`. */
export function plainTypeOf(type: string): string {
  return readers.reduce((plain, reader) => reader.plainTypeOf(plain), type);
}

/** What of a resource only its provider tells, and only when it has made it. */
export function assignedTo(type: string): readonly string[] {
  const own = plainTypeOf(type);
  return readers.flatMap(({ assigned }) => (Object.hasOwn(assigned, own) ? (assigned[own] ?? []) : []));
}
