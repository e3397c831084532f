/**
 * The first three groups of a .NET GUID have another byte order than in the UUID's text. The change is its own reverse.
 */
const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] as const;

/**
 * Converts the 16 bytes of a UUID to the order of a .NET GUID, or back. A delivery's tag has the one order, the
 * requests on `$management` the other. Source: `reorderLockToken` in @azure/service-bus.
 */
export function swapGuidOrder(bytes: Buffer): Buffer {
  return Buffer.from(order.map((index) => bytes[index] ?? 0));
}
