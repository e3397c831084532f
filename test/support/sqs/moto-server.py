"""Starts moto's own server with queues that one thread can read while another one creates or deletes some.

moto 5.2.5 serves each request in a thread of its own. To create a queue with a redrive policy, moto reads all queues to
find the dead-letter queue (`Queue._setup_dlq` in moto/sqs/models.py). If a queue comes or goes meanwhile, Python raises
"dictionary changed size during iteration", and the client gets a page in HTML.
"""

from moto.server import main
from moto.sqs.models import SQSBackend


class Queues(dict):
    """Returns copies. Python makes a copy without a switch to another thread."""

    def values(self):
        return list(super().values())

    def items(self):
        return list(super().items())


make = SQSBackend.__init__


def make_with_queues(self, *arguments, **named):
    make(self, *arguments, **named)
    self.queues = Queues()


SQSBackend.__init__ = make_with_queues
main()
