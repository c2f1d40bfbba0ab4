/** A call of a tool that the host runs, whoever added it: gates, a person where one must be asked, then the tool. */
import type { ToolCallResult } from '@atrium/protocol';
import type { ToolOutcome } from '../contracts/agent.js';
import type { GateCall } from '../contracts/extension.js';
import type { HostTool, ToolContext, ToolOutput } from '../contracts/tool.js';
import { StoredCommand } from '../sessions/running-commands.js';
import type { TurnRunner } from '../sessions/turn.js';
import type { Given } from './arguments.js';
import { progressContent } from './bounded-result.js';
import { type Call, type CallStarted, complete, completeUnrun, deny, gateCallOf } from './call-steps.js';
import { OverdueError, within } from './deadline.js';
import { earlierInputs } from './earlier-calls.js';
import { passGates } from './gates.js';
import { storedResult } from './model-output.js';
import { withNotes } from './notes.js';
import { askedBy, isAllowed, passPerson } from './permission.js';

export interface HostCall {
  readonly started: CallStarted;
  readonly tool: HostTool;
  readonly args: Given;
}

/** The call was started; its input is complete now. */
export async function runHostTool(turn: TurnRunner, { started, tool, args }: HostCall): Promise<ToolOutcome> {
  const { value: input } = args;
  const described = describe(tool, started, args);
  if ('failed' in described) return completeUnrun(turn, described.call, described.failed);
  const { call } = described;
  const asked = gateCallOf(turn, call, input);
  const clearance = await passGates(turn, call, asked);
  if (clearance.kind === 'denied') return deny(turn, call, clearance.reason);
  const ahead = await lookAhead(turn, tool, { call: askedBy(call, clearance), input });
  if ('failed' in ahead) return completeUnrun(turn, call, ahead.failed);
  const passage = await passPerson(turn, ahead.call, asked);
  if (passage.kind === 'denied') return passage;
  const final = { ...asked, input: passage.input };
  const outcome = await runAndComplete(turn, tool, { call, asked: final, input: passage.input, basis: ahead.basis });
  const notes = [...clearance.notes, ...passage.notes];
  return withNotes(turn, final, { outcome, notes });
}

type Described = { readonly call: Call } | { readonly call: Call; readonly failed: ToolCallResult };

/** A tool of an extension may stumble already over saying what it would do. */
function describe(tool: HostTool, started: CallStarted, { text, value: input }: Given): Described {
  const { definition, displayName: invocationMessage } = tool;
  const call: Call = { ...started, invocationMessage, toolInput: text, inputSchema: definition.inputSchema };
  try {
    const confirmation = tool.confirmation?.(input);
    return { call: { ...call, invocationMessage: tool.invocationMessage(input), confirmation } };
  } catch (error) {
    return { call, failed: failure(tool, error) };
  }
}

/** Before a person is asked: what would change. A call that would fail anyway is not worth a question. */
async function lookAhead(
  turn: TurnRunner,
  tool: HostTool,
  { call, input }: { call: Call; input: unknown },
): Promise<{ call: Call; basis?: unknown } | { failed: ToolOutput | ToolCallResult }> {
  const { confirmation } = call;
  if (!tool.preview || !confirmation || isAllowed(turn, call)) return { call };
  try {
    const preview = await within(limitOf(turn, tool), (signal) =>
      tool.preview?.(input, { cwd: turn.workingDirectory, signal }),
    );
    if (preview?.kind === 'failed') return { failed: preview.output };
    const edits = preview?.edits ?? [];
    return { call: { ...call, confirmation: { ...confirmation, edits } }, basis: preview?.basis };
  } catch (error) {
    turn.signal.throwIfAborted();
    return { failed: failure(tool, error) };
  }
}

/**
 * What the log holds of a command goes only when the result is stored, so one of the two is always there. A call that
 * still runs in the state was cut off by the end of the host: the next host needs it.
 */
async function runAndComplete(turn: TurnRunner, tool: HostTool, run: Prepared): Promise<ToolOutcome> {
  const { core } = turn.session.parts;
  const command = new StoredCommand(core.writer, { session: turn.session.uri, toolCallId: run.call.toolCallId });
  try {
    return await complete(turn, run.call, await runNow(turn, tool, { ...run, command }));
  } finally {
    if (turn.call(run.call.toolCallId)?.status !== 'running') command.forget();
  }
}

interface Prepared {
  readonly call: Call;
  readonly asked: GateCall;
  readonly input: unknown;
  readonly basis: unknown;
}

interface Running extends Prepared {
  readonly command: StoredCommand;
}

/** Gates and people take their time: the tool may have been taken away meanwhile. */
async function runNow(turn: TurnRunner, tool: HostTool, running: Running): Promise<ToolCallResult> {
  const { definition, owner, identity } = tool;
  const present = turn.session.extensions.tools().find((other) => other.definition.name === definition.name);
  // Somebody else's tool of the same name is not what was asked about.
  if (!present || present.owner !== owner || present.identity !== identity) return gone(tool);
  return runSafely(turn, present, running);
}

/** A tool that fails is a result, not the end of the turn. */
async function runSafely(
  turn: TurnRunner,
  tool: HostTool,
  { call, asked, input, basis, command }: Running,
): Promise<ToolCallResult> {
  const { toolCallId, name } = call;
  try {
    const output = await within(limitOf(turn, tool), (signal, hold) => {
      const context: ToolContext = {
        cwd: turn.workingDirectory,
        session: turn.session.uri,
        signal,
        progress: (content) => {
          const shown = progressContent(content);
          turn.write({ type: 'session/toolCallContentChanged', turnId: turn.id, toolCallId, content: shown });
        },
        ask: (request) => {
          const release = hold();
          return turn.ask(request).finally(release);
        },
        earlier: () => earlierInputs(turn.session.state, name),
        result: (id) => storedResult(turn.session, id),
        running: command,
        ...(basis !== undefined && { basis }),
        ...fromServices(turn, toolCallId),
      };
      return surrounded(turn, asked, () => runUnlessOver(tool, input, context));
    });
    return output;
  } catch (error) {
    turn.signal.throwIfAborted();
    return failure(tool, error);
  }
}

/** Those who stand around a call may take a moment, and meanwhile nobody may want it any more. */
async function runUnlessOver(tool: HostTool, input: unknown, context: ToolContext): Promise<ToolOutput> {
  context.signal.throwIfAborted();
  return tool.run(input, context);
}

/** The first extension stands outermost. */
function surrounded(turn: TurnRunner, call: GateCall, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
  const around = turn.session.extensions.all().filter((extension) => extension.around);
  return around.reduceRight((inner, extension) => () => extension.around?.(call, inner) ?? inner(), run)();
}

/** What the rooms of the host lend to tools. */
function fromServices({ session, id }: TurnRunner, toolCallId: string): Partial<ToolContext> {
  const { services } = session.parts.core;
  return Object.assign({}, ...services.map((service) => service.toolContext?.({ session, turnId: id, toolCallId })));
}

function limitOf(turn: TurnRunner, { timeoutMs }: HostTool) {
  return { clock: turn.session.parts.core.clock, signal: turn.signal, timeoutMs };
}

function failure({ displayName }: HostTool, error: unknown): ToolCallResult {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof OverdueError ? { code: 'TIMEOUT' } : {};
  return { success: false, pastTenseMessage: `${displayName} failed`, error: { message, ...code } };
}

function gone({ definition, displayName }: HostTool): ToolCallResult {
  const message = `the tool ${definition.name} was taken away before the call could run`;
  return { success: false, pastTenseMessage: `Could not use ${displayName}`, error: { message, code: 'NOT_FOUND' } };
}
