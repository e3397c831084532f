// Each claim about MassTransit names its source, a file below MassTransit's `src/` as of February 2026.

import type { Client } from "../../brokers/contract-pages.ts";

/** `MassTransit/Middleware/RetryFilter.cs`: `Task.Delay` between attempts, before the receive is over. */
export const retriesInMemory = "`UseMessageRetry` waits and retries in memory while it holds the message";

/** `MassTransit/Middleware/ErrorTransportFilter.cs`. Each broker has an `ErrorTransport` that moves the message. */
export const errorQueue =
  "it sends a message that failed for good to its own `_error` queue and then settles it as done";

/**
 * `MassTransit/Transports/ReceiveEndpointDispatcherFactory.cs`: `ThrowOnSkippedMessages`, `RethrowFaultedMessages`,
 * `PublishFaults = false`, `ConfigureConsumeTopology = false`; `ReceiveEndpointDispatcher.cs`: no lock of any
 * transport. `tests/MassTransit.Tests/ContainerTests/Dispatcher_Specs.cs` runs such a consumer.
 */
const dispatching =
  "You can still run its consumers: `IReceiveEndpointDispatcher<T>` gives one message to a consumer, rethrows its exceptions, settles nothing, and makes no queues. Leave out `UseMessageRetry`, `UseDelayedRedelivery` and `UseScheduledRedelivery`. A consumer publishes to the bus that you name, here one in memory. To publish to others, name the real one, without `ConfigureEndpoints`, which would make queues and receive.";

/**
 * @param why paragraphs about its own endpoints, which cannot keep the contract
 * @param receive the sentence about the client that receives and settles in their place
 */
export function massTransit(why: readonly string[], receive: string): Client {
  return {
    title: ".NET, MassTransit",
    evidence:
      "Written from MassTransit's sources, version 8.5. Redeliver's tests parse the code as C#, but do not compile or run it.",
    text: [...why, `${dispatching} ${receive}`],
    files: ["report/contract-page/MassTransitHandler.cs"],
  };
}
