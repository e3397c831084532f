"""moto's own server, with queues that one thread can look through while another one makes or deletes some.

moto 5.2.5 serves each request in a thread of its own. Whoever makes a queue with a redrive policy looks through all queues for the dead-letter
queue, in `Queue._setup_dlq` of moto/sqs/models.py. A queue that comes or goes meanwhile ends that with "dictionary changed size during
iteration", and the client gets a page in HTML.
"""

from moto.server import main
from moto.sqs.models import SQSBackend


class Queues(dict):
    """Gives out copies, which Python makes without letting another thread in."""

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
