import pulumi
import pulumi_rabbitmq as rabbitmq
import pulumi_redeliver as redeliver

config = pulumi.Config()
broker = rabbitmq.Provider(
    "broker",
    endpoint=config.require("endpoint"),
    username=config.require("username"),
    password=config.require_secret("password"),
)
shop = redeliver.RetryTopology(
    "shop",
    vhost=config.get("vhost"),
    target={"broker": "rabbitmq", "version": "4.3"},
    system={
        "name": "shop",
        "sources": {"orders": {"kind": "topic"}},
        "consumers": {
            "billing": {
                "from": {"orders": ["order.placed", "order.cancelled"]},
                "retry": {
                    "attempts": 5,
                    "backoff": {"kind": "exponential", "first": "1s", "factor": 2, "max": "10s"},
                },
            }
        },
    },
    opts=pulumi.ResourceOptions(providers={"rabbitmq": broker}),
)
pulumi.export("workQueues", shop.work_queues)
