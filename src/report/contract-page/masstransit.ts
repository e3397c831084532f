// What is said of MassTransit was read in its sources of February 2026; each claim names the file below `src/` that it rests on.

import type { Client } from "./client.ts";

const evidence =
  "Written after MassTransit's own sources, version 8.5. Redeliver's tests parse the code as C#; it was neither compiled nor run.";

/** `MassTransit/Middleware/RetryFilter.cs`: `Task.Delay` between attempts, before the receive is over. */
const retriesInMemory = "`UseMessageRetry` waits and retries in memory while it holds the message";

/** `MassTransit/Middleware/ErrorTransportFilter.cs`; `RabbitMqErrorTransport.cs` and `SqsErrorTransport.cs` move there. */
const errorQueue = "a message that failed for good it sends to its own `_error` queue and then settles as done";

/**
 * `MassTransit/Transports/ReceiveEndpointDispatcherFactory.cs`: `ThrowOnSkippedMessages`, `RethrowFaultedMessages`, `PublishFaults = false`,
 * `ConfigureConsumeTopology = false`; `ReceiveEndpointDispatcher.cs`: no lock of any transport. `tests/MassTransit.Tests/ContainerTests/Dispatcher_Specs.cs`
 * runs a consumer like that.
 */
const dispatching =
  "Its consumers can be run all the same: `IReceiveEndpointDispatcher<T>` gives one message to a consumer, throws what the consumer throws, settles nothing, and makes no queues. Leave `UseMessageRetry`, `UseDelayedRedelivery` and `UseScheduledRedelivery` away. What a consumer publishes goes to the bus that is named, here one in memory: for messages that others read name the real one, without `ConfigureEndpoints`, which would make queues and receive.";

/** @param handler how a message comes to it, with the interface that it has */
function codeOf(handler: string, host: string): NonNullable<Client["code"]> {
  const text = `using MassTransit;
using MassTransit.Transports;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddMassTransit(bus =>
{
    bus.AddConsumer<YourConsumer>();
    bus.UsingInMemory();
    // For bodies that are JSON without an envelope of MassTransit's.
    bus.AddConfigureEndpointsCallback((_, endpoint) => endpoint.UseRawJsonDeserializer());
});
${host}
builder.Build().Run();

${handler}`;
  return [{ language: "csharp", text }];
}

function handlerOf(declaration: string, parameters: string, body: string, contentType: string): string {
  return `${declaration}
{
    public Task HandleAsync(${parameters}, int attempt, CancellationToken token)
    {
        var headers = new Dictionary<string, object>
        {
            [MessageHeaders.ContentType] = ${contentType} ?? "application/json",
            ["attempt"] = attempt,
        };
        return dispatcher.Dispatch(${body}, headers, token);
    }
}`;
}

const dispatcher = "IReceiveEndpointDispatcher<YourConsumer> dispatcher";
const anyHandler = codeOf(
  handlerOf(
    `public sealed class MassTransitHandler(${dispatcher})`,
    "byte[] body, string? contentType",
    "body",
    "contentType",
  ),
  "builder.Services.AddSingleton<MassTransitHandler>();",
);

export const massTransitOnRabbitmq: Client = {
  title: ".NET, MassTransit",
  evidence,
  text: [
    // The exchange: `RabbitMqEndpointAddress.cs`, `DelayedMessageExchangeType`. The topology: `ConfigureRabbitMqTopologyFilter.cs`.
    `Its own endpoints cannot keep this contract. ${retriesInMemory}, and \`UseDelayedRedelivery\` goes through an exchange of the plugin \`x-delayed-message\`; ${errorQueue}. So the broker counts nothing, and the dead queue stays empty. They also declare queues and exchanges of their own, and \`ConfigureConsumeTopology = false\` takes only the exchanges of messages away.`,
    // `ReceivePipeConfigurationExtensions.cs`; `RabbitMqReceiveLockContext.cs`, `Faulted`: `BasicNack(…, requeue: true)`.
    "`RethrowFaultedMessages` gives a failed message back with `basic.nack` and requeue, which is the operation for *return*: it comes back at once, and from RabbitMQ 4.3 on without end.",
    `${dispatching} Here the snippet for RabbitMQ.Client above receives and settles.`,
  ],
  code: codeOf(
    handlerOf(
      `public sealed class MassTransitHandler(${dispatcher}) : IHandler`,
      "Delivery delivery",
      "delivery.Body",
      "delivery.Properties.ContentType",
    ),
    `builder.Services.AddSingleton<IHandler, MassTransitHandler>();
builder.Services.AddHostedService(services =>
    new Consumer(new Uri(builder.Configuration["AmqpUrl"]!), services.GetRequiredService<IHandler>()));`,
  ),
};

export const massTransitOnSqs: Client = {
  title: ".NET, MassTransit",
  evidence,
  text: [
    // `AmazonSqsReceiveLockContext.cs`, `RenewMessageVisibility` and `Faulted`: `ChangeMessageVisibility(…, RedeliverVisibilityTimeout)`.
    `Its own endpoints cannot keep this contract: MassTransit makes queues and topics of its own, ${retriesInMemory} and renews its visibility timeout, ${errorQueue}, and one that it gives back has always the same visibility timeout, \`RedeliverVisibilityTimeout\`.`,
    `${dispatching} Receive with \`AWSSDK.SQS\`, and do what the table says for each outcome.`,
  ],
  code: anyHandler,
};

export const massTransitOnServicebus: Client = {
  title: ".NET, MassTransit",
  evidence,
  text: [
    // `ServiceBusSendTransportContext.cs`: `ScheduledEnqueueTimeUtc`. `ServiceBusQueueErrorTransport.cs`, and
    // `ServiceBusReceivePipeConfiguratorExtensions.cs` for `ConfigureDeadLetterQueueErrorTransport`.
    `Its own endpoints cannot keep this contract: ${retriesInMemory}, they schedule copies of their own, and ${errorQueue}, unless \`ConfigureDeadLetterQueueErrorTransport\` is set.`,
    `${dispatching} Receive with \`Azure.Messaging.ServiceBus\`, and call what the table of Microsoft's SDKs says for each outcome.`,
  ],
  code: anyHandler,
};
