"""The official Python SDK against the lab's servers: reads a job as JSON on standard input, prints what it saw as JSON.

Job: {"mode": "legacy" or a modern revision, "servers": {label: {"url": ...} or {"command": ..., "args": [...]}},
"calls": {label: {tool: arguments}}, "resources": {label: uri}, "prompts": {label: [name, arguments, argument, typed]}}.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import PromptReference


def target(server):
    if "url" in server:
        return server["url"]
    return StdioServerParameters(command=server["command"], args=server["args"])


async def every_tool(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            return names


async def play(job, label, server):
    seen = {"tools": [], "failed": [], "called": 0}
    async with Client(target(server), mode=job["mode"]) as client:
        seen["revision"] = client.protocol_version
        seen["tools"] = sorted(await every_tool(client))
        for name, arguments in job["calls"][label].items():
            result = await client.call_tool(name, arguments)
            seen["called"] += 1
            if result.is_error or not result.content:
                seen["failed"].append(name)
        if label in job["resources"]:
            read = await client.read_resource(job["resources"][label])
            seen["resource"] = len(read.contents[0].text)
        if label in job["prompts"]:
            name, arguments, argument, typed = job["prompts"][label]
            got = await client.get_prompt(name, arguments)
            seen["prompt"] = len(got.messages)
            values = await client.complete(PromptReference(type="ref/prompt", name=name), {"name": argument, "value": typed or ""})
            seen["completed"] = len(values.completion.values)
    return seen


async def main():
    job = json.load(sys.stdin)
    report = {}
    for label, server in job["servers"].items():
        report[label] = await play(job, label, server)
    json.dump(report, sys.stdout)


asyncio.run(main())
