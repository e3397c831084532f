import type { LosingType } from "../brokers/broker.ts";
import type { Entry } from "../foreign/entries.ts";
import { type BrokerName, brokerOf, brokers } from "../brokers/index.ts";
import { isComponentType } from "./component.ts";

const readers = (Object.keys(brokers) as BrokerName[]).flatMap(
  (broker) => brokerOf({ broker }).auditor?.resources ?? [],
);

const losingTypes: Readonly<Record<string, LosingType>> = Object.assign(
  {},
  ...readers.map((reader) => reader.losingTypes),
) as Readonly<Record<string, LosingType>>;

/** The types of resources that messages lie in. */
export const holdingTypes: readonly string[] = Object.keys(losingTypes).filter((type) => losingTypes[type]?.holds);

export const typesWithLoss: readonly string[] = Object.keys(losingTypes);

/** True if an audit looks at resources of a type. Most resources of a large stack have no such type. */
export function takesPart(type: string): boolean {
  return isComponentType(type) || readers.some((reader) => reader.isRead({ type }));
}

/** The loss that a resource's deletion causes; null if it causes none, or if too little is known. */
export function lossOf(type: string, properties: Entry): LosingType | null {
  const own = plainTypeOf(type);
  const losing = Object.hasOwn(losingTypes, own) ? losingTypes[own] : undefined;
  return losing === undefined || losing.isTemporary?.(properties) === true ? null : losing;
}

/** The type without the version of an API that some providers write into it. */
export function plainTypeOf(type: string): string {
  return readers.reduce((plain, reader) => reader.plainTypeOf(plain), type);
}

/** The properties that a provider knows only after it has made the resource. */
export function assignedTo(type: string): readonly string[] {
  const own = plainTypeOf(type);
  return readers.flatMap(({ assigned }) => (Object.hasOwn(assigned, own) ? (assigned[own] ?? []) : []));
}
