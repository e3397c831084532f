using System.Text.Json.Nodes;
using System.Threading.Channels;
using Microsoft.Extensions.Hosting;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

public record Delivery(ulong Tag, string Exchange, string RoutingKey, IReadOnlyBasicProperties Properties, byte[] Body);

public interface IHandler
{
    Task HandleAsync(Delivery delivery, int attempt, CancellationToken token);
}

/// <summary>Throw it where the message was not tried.</summary>
public sealed class HandBackException : Exception;

/// <summary>Throw it where the delay is known, for example from a Retry-After header.</summary>
public sealed class RetryAfterException(TimeSpan delay) : Exception
{
    public long DelayMs => (long)delay.TotalMilliseconds;
}

public sealed class Consumer(Uri url, IHandler handler) : BackgroundService
{
    static readonly JsonNode Contract = JsonNode.Parse("""
{
  "workQueue": "shop.billing",
  "outcomes": {
    "success": [{"operation": "basic.ack"}],
    "transient": [{"operation": "basic.reject", "requeue": true}],
    "permanent": [{"operation": "basic.nack", "requeue": false}],
    "return": [{"operation": "basic.nack", "requeue": true}]
  },
  "attemptNumber": {"from": "header", "header": "x-delivery-count"},
  "handlerTimeoutMs": null,
  "permanentErrors": ["ValidationError"]
}
""")!;

    protected override async Task ExecuteAsync(CancellationToken stopping)
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
            await deliveries.Writer.WriteAsync(new Delivery(given.DeliveryTag, given.Exchange, given.RoutingKey, given.BasicProperties, given.Body.ToArray()));
        consumer.UnregisteredAsync += (_, _) =>
        {
            deliveries.Writer.TryComplete();
            return Task.CompletedTask;
        };
        await channel.BasicQosAsync(0, 1, false, stopping);
        var consumerTag = await channel.BasicConsumeAsync((string)Contract["workQueue"]!, false, consumer, stopping);
        await using var ending = stopping.Register(() => _ = channel.BasicCancelAsync(consumerTag));
        await foreach (var delivery in deliveries.Reader.ReadAllAsync(CancellationToken.None))
        {
            await SettleAsync(channel, publisher, delivery, stopping.IsCancellationRequested);
        }
        if (!stopping.IsCancellationRequested) throw new InvalidOperationException("the broker has ended the consumer");
    }

    async Task SettleAsync(IChannel channel, IChannel publisher, Delivery delivery, bool stopping)
    {
        var attempt = AttemptOf(delivery);
        var error = stopping ? new HandBackException() : await RunAsync(delivery, attempt);
        foreach (var operation in OperationsOf(error, attempt))
        {
            switch ((string)operation!["operation"]!)
            {
                case "basic.ack":
                    await channel.BasicAckAsync(delivery.Tag, false);
                    break;
                case "basic.nack":
                    await channel.BasicNackAsync(delivery.Tag, false, (bool)operation["requeue"]!);
                    break;
                case "basic.reject":
                    await channel.BasicRejectAsync(delivery.Tag, (bool)operation["requeue"]!);
                    break;
                default:
                    await PublishCopyAsync(publisher, delivery, operation, error as RetryAfterException);
                    break;
            }
        }
    }

    async Task<Exception?> RunAsync(Delivery delivery, int attempt)
    {
        try
        {
            using var limit = new CancellationTokenSource((int?)Contract["handlerTimeoutMs"] ?? Timeout.Infinite);
            await handler.HandleAsync(delivery, attempt, limit.Token).WaitAsync(limit.Token);
            return null;
        }
        catch (Exception error)
        {
            return error;
        }
    }

    static JsonArray OperationsOf(Exception? error, int attempt)
    {
        var outcome = OutcomeOf(error);
        if (outcome is JsonArray operations) return operations;
        var byAttempt = outcome["byAttempt"]!.AsArray();
        // A number beyond the last attempt counts as the last: fewer may have been declared while the message waited.
        return byAttempt[Math.Min(attempt, byAttempt.Count) - 1]!.AsArray();
    }

    static JsonNode OutcomeOf(Exception? error)
    {
        var outcomes = Contract["outcomes"]!;
        if (error is null) return outcomes["success"]!;
        if (error is HandBackException) return outcomes["return"]!;
        if (error is RetryAfterException asked && Contract["retryAfter"] is JsonArray steps)
        {
            foreach (var step in steps)
            {
                if (asked.DelayMs <= (long)step!["upToMs"]!) return step;
            }
        }
        return outcomes[IsPermanent(error) ? "permanent" : "transient"]!;
    }

    /// <summary>By the names of an error and of everything that it was thrown from.</summary>
    static bool IsPermanent(Exception error)
    {
        var names = Contract["permanentErrors"]!.AsArray().Select(name => (string)name!).ToHashSet();
        for (var each = error; each is not null; each = each.InnerException)
        {
            if (names.Contains(each.GetType().Name)) return true;
        }
        return false;
    }

    static int AttemptOf(Delivery delivery)
    {
        if (Contract["attemptNumber"] is not JsonObject found) return 1;
        if (found["header"] is JsonNode header)
        {
            object? failed = null;
            delivery.Properties.Headers?.TryGetValue((string)header!, out failed);
            return Convert.ToInt32(failed ?? 0) + 1;
        }
        var name = (string)found["from"]! == "exchange" ? delivery.Exchange : delivery.RoutingKey;
        var prefix = (string)found["prefix"]!;
        return name.StartsWith(prefix, StringComparison.Ordinal) ? int.Parse(name[prefix.Length..]) : 1;
    }

    /// <summary>The whole message but for what the contract names.</summary>
    static async Task PublishCopyAsync(IChannel publisher, Delivery delivery, JsonNode copy, RetryAfterException? asked)
    {
        var headers = new Dictionary<string, object?>(delivery.Properties.Headers ?? new Dictionary<string, object?>());
        foreach (var name in copy["removeHeaders"]!.AsArray()) headers.Remove((string)name!);
        if (copy["copyRoutingKeyTo"] is JsonNode keepKeyAs) headers.TryAdd((string)keepKeyAs!, delivery.RoutingKey);
        if (copy["headers"] is JsonObject added)
        {
            foreach (var (name, value) in added) headers[name] = (string)value!;
        }
        // Jitter: any of the exchanges will do, each with its own wait.
        var spread = copy["spread"] as JsonArray;
        var chosen = Random.Shared.Next((spread?.Count ?? 0) + 1);
        var place = chosen == 0 ? copy : spread![chosen - 1]!;
        long? expirationMs = place["expirationMs"] switch
        {
            null => null,
            JsonObject range => Random.Shared.NextInt64((long)range["from"]!, (long)range["to"]! + 1),
            _ => asked!.DelayMs,
        };
        var properties = new BasicProperties(delivery.Properties)
        {
            Headers = headers,
            Expiration = expirationMs?.ToString(),
            UserId = null,
        };
        await publisher.BasicPublishAsync((string)place["exchange"]!, (string)copy["routingKey"]!, true, properties, delivery.Body);
    }
}
