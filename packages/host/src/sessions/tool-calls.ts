/** Runs a tool by its name, whoever has it: the host, the active client, or nobody. */
import type { ToolCallResult } from '@atrium/protocol';
import type { CannedToolCall, ToolOutcome, ToolRequest } from '../agents/agent.js';
import { toolNames } from '../tools/names.js';
import type { HostTool, ToolOutput } from '../tools/tool.js';
import {
  type Call,
  callId,
  complete,
  inputText,
  isAllowed,
  parsedInput,
  permission,
  permissionAgain,
  startCall,
} from './call-steps.js';
import { presentClient, runClientTool } from './client-calls.js';
import { earlierInputs } from './earlier-calls.js';
import type { TurnRunner } from './turn.js';

export async function runTool(turn: TurnRunner, request: ToolRequest): Promise<ToolOutcome> {
  const toolCallId = callId(turn, request.id);
  const { tools } = turn.session.parts;
  const client = presentClient(turn);
  const definitions = tools.map(({ definition }) => definition);
  const named = toolNames(definitions, client?.tools ?? []).get(request.name);
  if (client && named?.owner === 'client') {
    const { clientId } = client;
    return runClientTool(turn, { toolCallId, clientId, tool: named.tool, toolInput: inputText(request.input) });
  }
  const tool = tools.find(({ definition }) => definition === named?.tool);
  if (!tool) return unknownTool(turn, toolCallId, request);
  return runHostTool(turn, tool, { toolCallId, input: parsedInput(request.input) });
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

async function runHostTool(
  turn: TurnRunner,
  tool: HostTool,
  { toolCallId, input }: { toolCallId: string; input: unknown },
): Promise<ToolOutcome> {
  const call: Call = {
    toolCallId,
    name: tool.definition.name,
    displayName: tool.displayName,
    invocationMessage: tool.invocationMessage(input),
    toolInput: inputText(input),
    confirmation: tool.confirmation?.(input),
  };
  startCall(turn, call);
  const ahead = await lookAhead(turn, tool, { call, input });
  const permit = await permission(turn, ahead.call);
  if (permit.kind === 'denied') return permit;
  return complete(turn, call, ahead.failed ?? (await runSafely(turn, tool, { call, input: permit.input ?? input })));
}

/** Before a person is asked: what would change. A call that would fail anyway is not worth a question. */
async function lookAhead(
  turn: TurnRunner,
  tool: HostTool,
  { call, input }: { call: Call; input: unknown },
): Promise<{ call: Call; failed?: ToolOutput }> {
  const { confirmation } = call;
  if (!tool.preview || !confirmation || isAllowed(turn, call)) return { call };
  const preview = await tool.preview(input, { cwd: turn.workingDirectory, signal: turn.signal });
  if (preview.kind === 'failed') return { call: { ...call, confirmation: undefined }, failed: preview.output };
  return { call: { ...call, confirmation: { ...confirmation, edits: preview.edits } } };
}

/** A tool that fails is a result, not the end of the turn. */
async function runSafely(
  turn: TurnRunner,
  tool: HostTool,
  { call, input }: { call: Call; input: unknown },
): Promise<ToolCallResult> {
  const { toolCallId, name } = call;
  try {
    return await tool.run(input, {
      cwd: turn.workingDirectory,
      signal: turn.signal,
      progress: (content) =>
        turn.write({ type: 'session/toolCallContentChanged', turnId: turn.id, toolCallId, content }),
      confirm: async (confirmation) => (await permissionAgain(turn, { ...call, confirmation })).kind === 'granted',
      ask: (request) => turn.ask(request),
      earlier: () => earlierInputs(turn.session.state, name),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { success: false, pastTenseMessage: `${tool.displayName} failed`, error: { message } };
  }
}

async function unknownTool(turn: TurnRunner, toolCallId: string, { name, input }: ToolRequest): Promise<ToolOutcome> {
  const call = { toolCallId, name, displayName: name, invocationMessage: `Use ${name}`, toolInput: inputText(input) };
  startCall(turn, call);
  await permission(turn, call);
  return complete(turn, call, {
    success: false,
    pastTenseMessage: `There is no tool ${name}`,
    error: { message: `there is no tool ${name}`, code: 'NOT_FOUND' },
  });
}
