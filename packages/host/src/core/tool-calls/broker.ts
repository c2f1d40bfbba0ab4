/**
 * The one way from "the model wants this tool" to "it runs", whoever has the tool: the host, an extension, the active
 * client, or nobody.
 */
import type { ToolDefinition } from '@atrium/protocol';
import type { BegunCall, CallStart, CannedToolCall, ToolOutcome, ToolRequest } from '../contracts/agent.js';
import type { TurnRunner } from '../sessions/turn.js';
import { shorten } from '../util/text.js';
import { type Given, readArguments } from './arguments.js';
import { CALL_NAME_MAX_CHARACTERS, type CallStarted, callId, completeUnrun, startCall } from './call-steps.js';
import { presentClient, runClientTool, startedClientCall } from './client-calls.js';
import { runHostTool } from './host-calls.js';
import { canReadResults, outcomeForModel } from './model-output.js';
import { beginOwnCall } from './own-calls.js';
import { StreamedInput } from './streamed-input.js';
import { toolNames } from './tool-names.js';

export function callTool(turn: TurnRunner, { input, ...start }: ToolRequest): Promise<ToolOutcome> {
  return beginCall(turn, start).run(input);
}

/** Shows that there is a call. From here on it belongs to whoever has the tool now. */
export function beginCall(turn: TurnRunner, { id, name }: CallStart): BegunCall {
  const { started, meta, definition, run } = ownerOf(turn, callId(turn, id), name);
  const { toolCallId } = started;
  startCall(turn, started, meta);
  const streamed = new StreamedInput(turn, toolCallId);
  return {
    id: toolCallId,
    delta: (content) => streamed.add(content),
    run: async (input) => {
      const args = readArguments(input, definition?.inputSchema);
      const { text: toolInput } = args;
      if (!run)
        return failCall(turn, started, { toolInput, message: `there is no tool ${started.name}`, code: 'NOT_FOUND' });
      if ('value' in args) return outcomeForModel(turn.session, await run(args), canReadResults(turn.session));
      return failCall(turn, started, { toolInput, message: args.problem, code: 'BAD_INPUT' });
    },
    fail: (message) => failCall(turn, started, { toolInput: streamed.text, message }),
  };
}

interface Owned {
  readonly started: CallStarted;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly definition?: ToolDefinition;
  /** Absent when nobody has the tool. */
  readonly run?: (args: Given) => Promise<ToolOutcome>;
}

function ownerOf(turn: TurnRunner, toolCallId: string, name: string): Owned {
  const tools = turn.session.extensions.tools();
  const client = presentClient(turn);
  const named = toolNames(
    tools.map(({ definition }) => definition),
    client?.tools ?? [],
  ).get(name);
  if (client && named?.owner === 'client') {
    const started = startedClientCall({ toolCallId, clientId: client.clientId, tool: named.tool });
    return { started, definition: named.tool, run: (args) => runClientTool(turn, started, args) };
  }
  const tool = tools.find(({ definition }) => definition === named?.tool);
  const shown = shorten(name, CALL_NAME_MAX_CHARACTERS);
  if (!tool) return { started: { toolCallId, name: shown, displayName: shown } };
  const { definition, displayName, owner, identity, callMeta: meta } = tool;
  const started = { toolCallId, name: definition.name, displayName, owner, identity };
  return { started, meta, definition, run: (args) => runHostTool(turn, { started, tool, args }) };
}

/** A call whose result is known beforehand: it goes the same way, but nothing runs. */
export async function runCannedTool(turn: TurnRunner, canned: CannedToolCall): Promise<ToolOutcome> {
  const { invocationMessage, pastTenseMessage, success, output } = canned;
  const call = beginOwnCall(turn, canned);
  const checked = await call.check(canned.input ?? '', invocationMessage);
  if (checked.kind === 'denied') return checked;
  const permit = canned.confirm ? await call.confirm({ title: invocationMessage }) : checked;
  if (permit.kind === 'denied') return permit;
  return call.complete({ success, pastTenseMessage, content: [{ type: 'text', text: output }] });
}

interface Failing {
  readonly toolInput: string;
  readonly message: string;
  readonly code?: 'NOT_FOUND' | 'BAD_INPUT';
}

/** A call that cannot be run is shown like one that failed. */
function failCall(turn: TurnRunner, started: CallStarted, { toolInput, message, code }: Failing): Promise<ToolOutcome> {
  const { name, displayName } = started;
  const pastTenseMessage = code === 'NOT_FOUND' ? `There is no tool ${name}` : `Could not use ${displayName}`;
  const call = { ...started, invocationMessage: `Use ${displayName}`, toolInput };
  return completeUnrun(turn, call, { success: false, pastTenseMessage, error: { message, ...(code && { code }) } });
}
