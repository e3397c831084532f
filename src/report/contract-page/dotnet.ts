import { waysOf } from "../../brokers/contract.ts";
import type { Outcome } from "../../brokers/contract.ts";
import { formatDurationMs } from "../../declare/duration.ts";
import type { Contract } from "../operations.ts";
import type { Client } from "./client.ts";
import { everyOperation } from "./java.ts";

type RabbitmqContract = Extract<Contract, { readonly protocol: "amqp-0-9-1" | "amqp-1.0" }>;
type Operation = Extract<RabbitmqContract["outcomes"]["transient"], readonly unknown[]>[number];
type Publish = Extract<Operation, { readonly operation: "basic.publish" }>;

// What is used of RabbitMQ.Client was read in its sources, version 7.2.1: `IChannel.cs`, `CreateChannelOptions.cs`, `BasicProperties.cs`,
// `AsyncEventingBasicConsumer.cs`; that a body is only lent, and that a consumer is unregistered by a cancel, a cancel of the broker and
// the end of its channel, in `AsyncDefaultBasicConsumer.cs`; that an awaited publish throws, in `Impl/Channel.PublisherConfirms.cs`.

/** The plain client of RabbitMQ for .NET, in a hosted service. */
export function rabbitmqDotnet(contract: RabbitmqContract): Client {
  return {
    title: ".NET, RabbitMQ.Client",
    evidence:
      "Written after the sources of RabbitMQ.Client 7.2.1. Redeliver's tests parse it as C#; it was neither compiled nor run.",
    text: [
      'One message at a time, for .NET 8 and later. Register it with `builder.Services.AddHostedService(services => new Consumer(new Uri("amqp://…"), services.GetRequiredService<IHandler>()))`; `IHandler` is your code. A copy that the broker returns or refuses throws, the connection ends, and the message comes back: nothing is acknowledged before its copy is safe. At a shutdown it ends when its handler has, and hands back what it has not begun. RabbitMQ.Client gives every copy the header `x-dotnet-pub-seq-no`.',
    ],
    code: [{ language: "csharp", text: classOf(contract) }],
  };
}

function classOf(contract: RabbitmqContract): string {
  const copies = everyOperation<Operation>(contract).filter((each) => each.operation === "basic.publish");
  return `using System.Threading.Channels;
using Microsoft.Extensions.Hosting;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

public record Delivery(ulong Tag, string RoutingKey, IReadOnlyBasicProperties Properties, byte[] Body);

public interface IHandler
{
    Task HandleAsync(Delivery delivery, int attempt, CancellationToken token);
}

${errorsOf(contract)}

public sealed class Consumer(Uri url, IHandler handler) : BackgroundService
{
${loop(contract)}

    async Task SettleAsync(IChannel channel, IChannel publisher, Delivery delivery, bool stopping)
    {
        var tag = delivery.Tag;
        var attempt = AttemptOf(delivery);
${settling(contract)}
    }

    async Task<Exception?> RunAsync(Delivery delivery, int attempt)
    {
        try
        {
${runOf(contract)}
            return null;
        }
        catch (Exception error)
        {
            return error;
        }
    }

    static int AttemptOf(Delivery delivery)
    {
${attemptOf(contract)}
    }

${isPermanentOf(contract)}${copies.length === 0 ? "" : `\n\n${publishCopy}`}${copies.some(({ spread }) => spread !== undefined) ? `\n\n${publishAnywhere}` : ""}
}`;
}

function errorsOf({ retryAfter }: RabbitmqContract): string {
  const handBack = `/// <summary>Throw it where the message was not tried.</summary>
public sealed class HandBackException : Exception;`;
  const asked = `/// <summary>Throw it where the delay is known, for example from a Retry-After header.</summary>
public sealed class RetryAfterException(TimeSpan delay) : Exception
{
    public long DelayMs => (long)delay.TotalMilliseconds;
}`;
  return retryAfter === undefined ? handBack : `${handBack}\n\n${asked}`;
}

function loop(contract: RabbitmqContract): string {
  return `    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await ConsumeAsync(stopping);
            }
            catch (Exception error) when (!stopping.IsCancellationRequested)
            {
                // The connection has ended, so what was not settled comes back.
                Console.Error.WriteLine(error);
                await Task.Delay(TimeSpan.FromSeconds(5), stopping);
            }
        }
    }

    async Task ConsumeAsync(CancellationToken stopping)
    {
        // Deliveries of a lost connection cannot be settled on another one.
        var factory = new ConnectionFactory { Uri = url, AutomaticRecoveryEnabled = false };
        await using var connection = await factory.CreateConnectionAsync(stopping);
        await using var channel = await connection.CreateChannelAsync(cancellationToken: stopping);
        // A copy that is returned or refused throws.
        await using var publisher = await connection.CreateChannelAsync(new CreateChannelOptions(true, true), stopping);
        var deliveries = Channel.CreateUnbounded<Delivery>();
        var consumer = new AsyncEventingBasicConsumer(channel);
        // The body is lent for the time of the event.
        consumer.ReceivedAsync += async (_, given) =>
            await deliveries.Writer.WriteAsync(new Delivery(given.DeliveryTag, given.RoutingKey, given.BasicProperties, given.Body.ToArray()));
        consumer.UnregisteredAsync += (_, _) =>
        {
            deliveries.Writer.TryComplete();
            return Task.CompletedTask;
        };
        await channel.BasicQosAsync(0, 1, false, stopping);
        var consumerTag = await channel.BasicConsumeAsync(${text(contract.workQueue ?? "")}, false, consumer, stopping);
        await using var ending = stopping.Register(() => _ = channel.BasicCancelAsync(consumerTag));
        await foreach (var delivery in deliveries.Reader.ReadAllAsync(CancellationToken.None))
        {
            await SettleAsync(channel, publisher, delivery, stopping.IsCancellationRequested);
        }
        if (!stopping.IsCancellationRequested) throw new InvalidOperationException("the broker has ended the consumer");
    }`;
}

/** Runs the handler and does what its outcome demands. */
function settling(contract: RabbitmqContract): string {
  const { outcomes, retryAfter = [] } = contract;
  const branch = (outcome: Outcome<Operation>): string => statementsOf(outcome, 12);
  const asked = retryAfter.map(
    (step) => `
        else if (error is RetryAfterException asked${step.upToMs} && asked${step.upToMs}.DelayMs <= ${step.upToMs})
        {
${statementsOf(step, 12, `asked${step.upToMs}`)}
        }`,
  );
  return `        var error = stopping ? new HandBackException() : await RunAsync(delivery, attempt);
        if (error is null)
        {
${branch(outcomes.success)}
        }
        else if (error is HandBackException)
        {
${branch(outcomes.return)}
        }${asked.join("")}
        else if (IsPermanent(error))
        {
${branch(outcomes.permanent)}
        }
        else
        {
${branch(outcomes.transient)}
        }`;
}

function runOf({ handlerTimeoutMs }: RabbitmqContract): string {
  if (handlerTimeoutMs === null)
    return "            await handler.HandleAsync(delivery, attempt, CancellationToken.None);";
  return `            using var limit = new CancellationTokenSource(${handlerTimeoutMs});
            await handler.HandleAsync(delivery, attempt, limit.Token).WaitAsync(limit.Token);`;
}

function attemptOf({ attemptNumber }: RabbitmqContract): string {
  if (attemptNumber === null) return "        return 1;";
  if (attemptNumber.from === "header") {
    return `        object? failed = null;
        delivery.Properties.Headers?.TryGetValue(${text(attemptNumber.header)}, out failed);
        return Convert.ToInt32(failed ?? 0) + 1;`;
  }
  const prefix = text(attemptNumber.prefix);
  return `        var key = delivery.RoutingKey;
        return key.StartsWith(${prefix}, StringComparison.Ordinal) ? int.Parse(key[${prefix}.Length..]) : 1;`;
}

function isPermanentOf({ permanentErrors }: RabbitmqContract): string {
  const names = [...new Set(permanentErrors)].map(text).join(", ");
  return `    /// <summary>By the names of an error and of everything that it was thrown from.</summary>
    static bool IsPermanent(Exception error)
    {
        string[] names = [${names}];
        for (var each = error; each is not null; each = each.InnerException)
        {
            if (names.Contains(each.GetType().Name)) return true;
        }
        return false;
    }`;
}

const publishCopy = `    /// <summary>The whole message but for what the contract names.</summary>
    static async Task PublishCopyAsync(
        IChannel publisher, Delivery delivery, string exchange, string routingKey, string[] removed, Dictionary<string, string> added,
        string? keepKeyAs, long? expirationMs)
    {
        var headers = new Dictionary<string, object?>(delivery.Properties.Headers ?? new Dictionary<string, object?>());
        foreach (var name in removed) headers.Remove(name);
        if (keepKeyAs is not null) headers.TryAdd(keepKeyAs, delivery.RoutingKey);
        foreach (var (name, value) in added) headers[name] = value;
        var properties = new BasicProperties(delivery.Properties)
        {
            Headers = headers,
            Expiration = expirationMs?.ToString(),
            UserId = null,
        };
        await publisher.BasicPublishAsync(exchange, routingKey, true, properties, delivery.Body);
    }`;

const publishAnywhere = `    /// <summary>Jitter: any of the exchanges will do, each with its own wait.</summary>
    static Task PublishCopyAsync(
        IChannel publisher, Delivery delivery, (string Exchange, long? ExpirationMs)[] places, string routingKey, string[] removed,
        Dictionary<string, string> added, string? keepKeyAs)
    {
        var (exchange, expirationMs) = places[Random.Shared.Next(places.Length)];
        return PublishCopyAsync(publisher, delivery, exchange, routingKey, removed, added, keepKeyAs, expirationMs);
    }`;

/** The statements of an outcome; a switch where they depend on the attempt. @param asked the variable with the delay that the handler asked for */
function statementsOf(outcome: Outcome<Operation>, indent: number, asked = ""): string {
  const spaces = " ".repeat(indent);
  if (!("byAttempt" in outcome)) return outcome.map((each) => spaces + statementOf(each, asked)).join("\n");
  const cases = outcome.byAttempt.flatMap((operations, index) => [
    // Fewer attempts may have been declared while the message waited, so a number beyond the last is taken for the last.
    `${spaces}    ${index + 1 === outcome.byAttempt.length ? "default" : `case ${index + 1}`}:`,
    ...operations.map((each) => `${spaces}        ${statementOf(each, asked)}`),
    `${spaces}        break;`,
  ]);
  return [`${spaces}switch (attempt)`, `${spaces}{`, ...cases, `${spaces}}`].join("\n");
}

function statementOf(operation: Operation, asked: string): string {
  switch (operation.operation) {
    case "basic.ack":
      return "await channel.BasicAckAsync(tag, false);";
    case "basic.nack":
      return `await channel.BasicNackAsync(tag, false, ${operation.requeue});`;
    case "basic.reject":
      return `await channel.BasicRejectAsync(tag, ${operation.requeue});`;
    case "basic.publish":
      return publishOf(operation, asked);
    case "accepted":
    case "released":
    case "modified":
      throw new Error(`${operation.operation} is no operation of AMQP 0-9-1`);
    default:
      return operation satisfies never;
  }
}

function publishOf(operation: Publish, asked: string): string {
  const { exchange, routingKey, removeHeaders, headers = {}, copyRoutingKeyTo, expirationMs, spread } = operation;
  const added = Object.entries(headers).map(([name, value]) => `[${text(name)}] = ${text(value)}`);
  const copy = [
    text(routingKey),
    `[${removeHeaders.map(text).join(", ")}]`,
    added.length === 0 ? "new()" : `new() { ${added.join(", ")} }`,
    copyRoutingKeyTo === undefined ? "null" : text(copyRoutingKeyTo),
  ].join(", ");
  if (spread === undefined) {
    return `await PublishCopyAsync(publisher, delivery, ${text(exchange)}, ${copy}, ${expirationOf(expirationMs, asked)});`;
  }
  const places = waysOf(operation).map((way) => `(${text(way.exchange)}, ${expirationOf(way.expirationMs, asked)})`);
  return `await PublishCopyAsync(publisher, delivery, [${places.join(", ")}], ${copy});`;
}

function expirationOf(wanted: Publish["expirationMs"], asked: string): string {
  if (wanted === null) return "null";
  if (wanted === "asked") return `${asked}.DelayMs`;
  const { from, to } = wanted;
  return from === to ? `${from} /* ${formatDurationMs(from)} */` : `Random.Shared.NextInt64(${from}, ${to + 1})`;
}

/** C# has the escapes of JSON, and three more ends of a line. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll(
    /[\u0085\u2028\u2029]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
