"""The proxy between an MCP client and a server on standard streams.

``wire`` has the protocol's messages, ``proxy`` decides what becomes of each, ``judge`` asks the
engine about calls, ``pipes`` moves the bytes. Only a ``tools/call`` is judged; everything else
passes as it came.
"""
