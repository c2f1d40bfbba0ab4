/**
 * The one way from "the model wants this tool" to "it runs", whoever has the tool: the host, an extension, the active
 * client, or nobody.
 */
import type { BegunCall, CallStart, CannedToolCall, ToolOutcome, ToolRequest } from '../agents/agent.js';
import type { TurnRunner } from '../sessions/turn.js';
import { toolNames } from '../tools/names.js';
import { type Call, callId, complete, inputText, parsedInput, permission, startCall } from './call-steps.js';
import { presentClient, runClientTool, startClientCall } from './client-calls.js';
import { runHostTool } from './host-calls.js';

export function callTool(turn: TurnRunner, { input, ...start }: ToolRequest): Promise<ToolOutcome> {
  return beginCall(turn, start).run(input);
}

/** Shows that there is a call. From here on it belongs to whoever has the tool now. */
export function beginCall(turn: TurnRunner, { id, name }: CallStart): BegunCall {
  const toolCallId = callId(turn, id);
  const begun = begin(turn, toolCallId, name);
  return {
    id: toolCallId,
    delta: (content) => turn.write({ type: 'session/toolCallDelta', turnId: turn.id, toolCallId, content }),
    run: (input) => begun(input),
    fail: (message) => failCall(turn, nameless(toolCallId, name, ''), message),
  };
}

type Run = (input: unknown) => Promise<ToolOutcome>;

function begin(turn: TurnRunner, toolCallId: string, name: string): Run {
  const tools = turn.session.extensions.tools();
  const client = presentClient(turn);
  const definitions = tools.map(({ definition }) => definition);
  const named = toolNames(definitions, client?.tools ?? []).get(name);
  if (client && named?.owner === 'client') {
    const { tool } = named;
    startClientCall(turn, { toolCallId, clientId: client.clientId, tool });
    return (input) => runClientTool(turn, { toolCallId, clientId: client.clientId, tool, toolInput: inputText(input) });
  }
  const tool = tools.find(({ definition }) => definition === named?.tool);
  if (tool) {
    const { displayName, callMeta } = tool;
    startCall(turn, { toolCallId, name: tool.definition.name, displayName, ...(callMeta && { meta: callMeta }) });
    return (input) => runHostTool(turn, tool, { toolCallId, input: parsedInput(input) });
  }
  startCall(turn, { toolCallId, name, displayName: name });
  return (input) =>
    failCall(turn, nameless(toolCallId, name, inputText(input)), `there is no tool ${name}`, 'NOT_FOUND');
}

/** A call whose result is known beforehand: it goes the same way, but nothing runs. */
export async function runCannedTool(turn: TurnRunner, canned: CannedToolCall): Promise<ToolOutcome> {
  const { name, displayName, invocationMessage, pastTenseMessage, success, output } = canned;
  const call: Call = {
    toolCallId: callId(turn, canned.id),
    name,
    displayName,
    invocationMessage,
    toolInput: canned.input ?? '',
    confirmation: canned.confirm ? { title: invocationMessage } : undefined,
  };
  startCall(turn, call);
  const permit = await permission(turn, call);
  if (permit.kind === 'denied') return permit;
  return complete(turn, call, { success, pastTenseMessage, content: [{ type: 'text', text: output }] });
}

function nameless(toolCallId: string, name: string, toolInput: string): Call {
  return { toolCallId, name, displayName: name, invocationMessage: `Use ${name}`, toolInput };
}

/** A call that cannot be run is shown like one that failed. */
async function failCall(turn: TurnRunner, call: Call, message: string, code?: string): Promise<ToolOutcome> {
  await permission(turn, call);
  const pastTenseMessage = code === 'NOT_FOUND' ? `There is no tool ${call.name}` : `Could not use ${call.displayName}`;
  return complete(turn, call, { success: false, pastTenseMessage, error: { message, ...(code && { code }) } });
}
