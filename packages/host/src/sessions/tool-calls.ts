/** How a tool call goes: announced, perhaps confirmed by a person, run by the host or by a client, and completed. */
import type { SessionState, ToolCallResult, ToolCallState, ToolResultContent } from '@atrium/protocol';
import type { CannedToolCall, ToolOutcome, ToolRequest } from '../agents/agent.js';
import { ALLOW_IN_SESSION, type HostTool, type ToolConfirmation } from '../tools/tool.js';
import { findCall } from './rules/tool-calls.js';
import type { TurnRunner } from './turn.js';

interface Call {
  readonly toolCallId: string;
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly toolInput: string;
  readonly toolClientId?: string;
  readonly confirmation?: ToolConfirmation | undefined;
}

/** Runs a tool by name, whoever has it. */
export async function runTool(turn: TurnRunner, request: ToolRequest): Promise<ToolOutcome> {
  const toolCallId = request.id ?? `call-${crypto.randomUUID()}`;
  const tool = turn.session.parts.tools.find(({ definition }) => definition.name === request.name);
  if (tool) return runHostTool(turn, tool, { toolCallId, input: parsedInput(request.input) });
  const { activeClient } = turn.session.state;
  const offered = activeClient?.tools.find(({ name }) => name === request.name);
  if (!activeClient || !offered) return unknownTool(turn, toolCallId, request);
  return runClientTool(turn, {
    toolCallId,
    name: offered.name,
    displayName: offered.title ?? offered.name,
    invocationMessage: `Use ${offered.title ?? offered.name}`,
    toolInput: inputText(request.input),
    toolClientId: activeClient.clientId,
  });
}

/** A call whose result is known beforehand: it goes the same way, but nothing runs. */
export async function runCannedTool(turn: TurnRunner, canned: CannedToolCall): Promise<ToolOutcome> {
  const { name, displayName, invocationMessage, pastTenseMessage, success, output } = canned;
  const call: Call = {
    toolCallId: canned.id ?? `call-${crypto.randomUUID()}`,
    name,
    displayName,
    invocationMessage,
    toolInput: canned.input ?? '',
    confirmation: canned.confirm ? { title: invocationMessage } : undefined,
  };
  const permit = await announce(turn, call);
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
  const permit = await announce(turn, call);
  if (permit.kind === 'denied') return permit;
  const output = await runSafely(turn, tool, { call, input: permit.input ?? input });
  return complete(turn, call, output);
}

/** A tool that fails is a result, not the end of the turn. */
async function runSafely(
  turn: TurnRunner,
  tool: HostTool,
  { call, input }: { call: Call; input: unknown },
): Promise<ToolCallResult> {
  const { toolCallId } = call;
  try {
    return await tool.run(input, {
      cwd: turn.workingDirectory,
      signal: turn.signal,
      progress: (content) =>
        turn.write({ type: 'session/toolCallContentChanged', turnId: turn.id, toolCallId, content }),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { success: false, pastTenseMessage: `${tool.displayName} failed`, error: { message } };
  }
}

/** The owner runs it and completes it; the host only waits. */
async function runClientTool(turn: TurnRunner, call: Call): Promise<ToolOutcome> {
  await announce(turn, call);
  return outcomeOf(await turn.waitFor(settledCall(turn, call)));
}

function unknownTool(turn: TurnRunner, toolCallId: string, { name, input }: ToolRequest): Promise<ToolOutcome> {
  const invocationMessage = `Use ${name}`;
  const call = { toolCallId, name, displayName: name, invocationMessage, toolInput: inputText(input) };
  return announce(turn, call).then(() =>
    complete(turn, call, {
      success: false,
      pastTenseMessage: `There is no tool ${name}`,
      error: { message: `there is no tool ${name}`, code: 'NOT_FOUND' },
    }),
  );
}

type Permit =
  | { readonly kind: 'granted'; readonly input?: unknown }
  | { readonly kind: 'denied'; readonly reason: string };

/** Shows the call, and waits for a person where one must be asked. */
async function announce(turn: TurnRunner, call: Call): Promise<Permit> {
  const { toolCallId, name, displayName, toolClientId, invocationMessage, toolInput, confirmation } = call;
  const target = { turnId: turn.id, toolCallId };
  turn.interrupt();
  turn.write({
    type: 'session/toolCallStart',
    ...target,
    toolName: name,
    displayName,
    ...(toolClientId && { toolClientId }),
  });
  const ready = { type: 'session/toolCallReady' as const, ...target, invocationMessage, toolInput };
  const allowed = isAllowed(turn, name);
  if (!confirmation || allowed) {
    turn.write({ ...ready, confirmed: confirmation ? 'setting' : 'not-needed' });
    return { kind: 'granted' };
  }
  const { title, editable, options } = confirmation;
  turn.write({ ...ready, confirmationTitle: title, ...(editable && { editable }), ...(options && { options }) });
  const answered = await turn.waitFor((state) => {
    const found = findCall(state, target);
    return found && (found.status === 'running' || found.status === 'cancelled') ? found : undefined;
  });
  return permitOf(turn, call, answered);
}

function isAllowed(turn: TurnRunner, tool: string): boolean {
  return turn.session.allowedTools.has(tool) || turn.session.state.config?.values.autoApprove === true;
}

function permitOf(turn: TurnRunner, call: Call, answered: ToolCallState): Permit {
  if (answered.status === 'cancelled') {
    const advice = answered.userSuggestion?.text;
    return { kind: 'denied', reason: advice ?? plain(answered.reasonMessage) ?? 'the person said no' };
  }
  if (answered.status !== 'running') return { kind: 'denied', reason: 'the call is over' };
  if (answered.selectedOption?.id === ALLOW_IN_SESSION) turn.session.allowedTools.add(call.name);
  return { kind: 'granted', input: parsedInput(answered.toolInput ?? call.toolInput) };
}

async function complete(turn: TurnRunner, call: Call, result: ToolCallResult): Promise<ToolOutcome> {
  turn.write({ type: 'session/toolCallComplete', turnId: turn.id, toolCallId: call.toolCallId, result });
  return outcomeOf(await turn.waitFor(settledCall(turn, call)));
}

function settledCall(turn: TurnRunner, { toolCallId }: Call): (state: SessionState) => ToolCallState | undefined {
  return (state) => {
    const call = findCall(state, { turnId: turn.id, toolCallId });
    return call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined;
  };
}

function outcomeOf(call: ToolCallState): ToolOutcome {
  if (call.status !== 'completed') {
    const reason = call.status === 'cancelled' ? plain(call.reasonMessage) : undefined;
    return { kind: 'denied', reason: reason ?? 'the person said no' };
  }
  const content = call.content ?? [];
  return { kind: 'completed', success: call.success, text: textOf(content) || (call.error?.message ?? ''), content };
}

function textOf(content: readonly ToolResultContent[]): string {
  return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
}

function plain(text: string | { markdown: string } | undefined): string | undefined {
  return typeof text === 'object' ? text.markdown : text;
}

function inputText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

/** Arguments as an object, from an object or from the JSON text that models and people write. */
function parsedInput(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return { text: input };
  }
}
