"""Starts moto's own server, with what its queues lack for several threads. moto 5.2.5 serves each request in a thread of
its own.

- To create a queue with a redrive policy, moto reads all queues to find the dead-letter queue (`Queue._setup_dlq` in
  moto/sqs/models.py). If a queue comes or goes meanwhile, Python raises "dictionary changed size during iteration", and
  the client gets a page in HTML.
- To delete a message, moto writes a new list of the others (`Queue.delete_message`). Of two deletions at once the later
  one brings the other's message back. Two receives at once may also take the same message.
"""

from moto.server import main
from moto.sqs.models import Queue, SQSBackend


class Queues(dict):
    """Returns copies. Python makes a copy without a switch to another thread."""

    def values(self):
        return list(super().values())

    def items(self):
        return list(super().items())


make = SQSBackend.__init__
delete = Queue.delete_message
receive = SQSBackend.receive_message


def make_with_queues(self, *arguments, **named):
    make(self, *arguments, **named)
    self.queues = Queues()


def delete_alone(self, receipt_handle):
    with self._messages_lock:
        delete(self, receipt_handle)


def receive_alone(self, queue_name, *arguments, **named):
    # The lock is free while a receive waits for messages.
    with self.get_queue(queue_name)._messages_lock:
        return receive(self, queue_name, *arguments, **named)


SQSBackend.__init__ = make_with_queues
Queue.delete_message = delete_alone
SQSBackend.receive_message = receive_alone
main()
