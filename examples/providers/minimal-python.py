# A provider with one tool, in Python, with nothing but the package `websockets` (pip install websockets).
# Let the host start it: put this into the `atrium.json` of a project, open a session there, say yes when it asks:
#   { "providers": { "counter": { "command": "python3", "args": ["/path/to/examples/providers/minimal-python.py"] } } }
# The host gives it TAP_PROVIDER_TOKEN and TAP_GATEWAY_URL. Then ask the agent how many words a text has.
import asyncio
import json
import os

import websockets

COUNT_WORDS = {
    "name": "count_words",
    "description": "Counts the words of a text.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(message):
    """What to say to a message of the gateway; None when there is nothing to say."""
    kind = message["type"]
    if kind == "sessions":
        # Let in. Without a session it is bound to the one that it was started for.
        return {"type": "hello", "name": "counter", "protocolVersion": 2, "tools": [COUNT_WORDS]}
    if kind == "hello.ack":
        print(f"ready as {message['providerId']}", flush=True)
    if kind == "tool.call":
        return {"type": "tool.result", "id": message["id"], "data": len(message["args"]["text"].split())}
    if kind == "tool.cancel":
        return {"type": "tool.result", "id": message["id"], "error": "Cancelled", "errorCode": "CANCELLED"}
    if kind == "session.lifecycle" and message["state"] == "shutdown.pending":
        return {"type": "shutdown.ready", "sessionId": message["sessionId"]}
    if kind == "error":
        print(f"{message['code']}: {message['message']}", flush=True)
    return None


async def main():
    async with websockets.connect(os.environ.get("TAP_GATEWAY_URL", "ws://localhost:9400")) as socket:
        await socket.send(json.dumps({"type": "auth", "token": os.environ["TAP_PROVIDER_TOKEN"]}))
        async for text in socket:
            reply = answer(json.loads(text))
            if reply is not None:
                await socket.send(json.dumps(reply))


asyncio.run(main())
