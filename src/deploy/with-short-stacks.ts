/**
 * Makes resources with stacks of one frame. Pulumi's SDK formats a stack for each of its promises, to name one that
 * never ends, and maps it to the sources. That took a third of the program's time for 300 consumers. The SDK takes the
 * position of a resource in the program with a limit of its own, so that stays.
 *
 * Source: `debuggablePromise` in `runtime/debuggable.js`, `callsites` in `resource.js` (SDK 3.260).
 */
export function withShortStacks<Made>(make: () => Made): Made {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
