# Clients that send requests and never read an answer. Node.js cannot make the receive buffer of a socket small, without
# which the system takes the answers in their place.
#
# usage: unread.py PORT CONNECTIONS SECONDS < REQUESTS
#
# Each connection sends what comes in on standard input, as far as it is taken. Ends when all of them were closed by the
# server, or the seconds are over.

import select
import socket
import sys
import time

port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
requests = sys.stdin.buffer.read()
poll = select.poll()
connections = {}
started = time.monotonic()


def open_connection():
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.connect(('127.0.0.1', port))
    connection.setblocking(False)
    # Nothing is said of bytes that could be read, only of an end and of room to write.
    poll.register(connection, select.POLLOUT | select.POLLRDHUP)
    connections[connection.fileno()] = [connection, 0]


def send(descriptor):
    connection, sent = connections[descriptor]
    try:
        sent += connection.send(requests[sent:])
    except BlockingIOError:
        pass
    connections[descriptor][1] = sent
    if sent == len(requests):
        poll.modify(descriptor, select.POLLRDHUP)


for _ in range(count):
    open_connection()
while connections and time.monotonic() - started < seconds:
    for descriptor, events in poll.poll(100):
        if events & (select.POLLRDHUP | select.POLLHUP | select.POLLERR):
            poll.unregister(descriptor)
            connections.pop(descriptor)[0].close()
        else:
            try:
                send(descriptor)
            except OSError:
                pass
