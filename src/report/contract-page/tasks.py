import consumer
from celery import Celery

app = Celery("tasks")


@app.task
def work(body, attempt):
    raise NotImplementedError("your code")


def handle(body, attempt):
    work.apply(args=(body, attempt), throw=True)


consumer.handle = handle

if __name__ == "__main__":
    consumer.main()
