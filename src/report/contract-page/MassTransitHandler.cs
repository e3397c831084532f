using MassTransit;
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
builder.Services.AddSingleton<MassTransitHandler>();
builder.Build().Run();

public sealed class MassTransitHandler(IReceiveEndpointDispatcher<YourConsumer> dispatcher)
{
    public Task HandleAsync(byte[] body, string? contentType, int attempt, CancellationToken token)
    {
        var headers = new Dictionary<string, object>
        {
            [MessageHeaders.ContentType] = contentType ?? "application/json",
            ["attempt"] = attempt,
        };
        return dispatcher.Dispatch(body, headers, token);
    }
}
