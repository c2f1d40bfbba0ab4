/** A call of a tool that the host runs, whoever added it: gates, a person where one must be asked, then the tool. */
import type { ToolCallResult } from '@atrium/protocol';
import type { Permit, ToolOutcome } from '../agents/agent.js';
import type { GateCall } from '../extensions/extension.js';
import type { TurnRunner } from '../sessions/turn.js';
import type { HostTool, ToolOutput } from '../tools/tool.js';
import {
  type Call,
  complete,
  deny,
  gateCallOf,
  inputText,
  isAllowed,
  permission,
  permissionAgain,
  refuseRunning,
} from './call-steps.js';
import { earlierInputs } from './earlier-calls.js';
import { passGates } from './gates.js';
import { withNotes } from './notes.js';

/** The call was started; its input is complete now. */
export async function runHostTool(
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
    owner: tool.owner,
    confirmation: tool.confirmation?.(input),
  };
  const asked = gateCallOf(turn, call, input);
  const clearance = await passGates(turn, call, asked);
  if (clearance.kind === 'denied') return deny(turn, call, clearance.reason);
  const wanted = clearance.ask === undefined ? call : mustAsk(call, clearance.ask);
  const ahead = await lookAhead(turn, tool, { call: wanted, input });
  const permit = await permission(turn, ahead.call);
  if (permit.kind === 'denied') return permit;
  if (ahead.failed) return complete(turn, call, ahead.failed);
  return runPermitted(turn, tool, { call, asked, permit, notes: clearance.notes });
}

/** A gate wants a person to decide, also where the tool itself would not ask or somebody allowed it for good. */
function mustAsk(call: Call, reason: string): Call {
  return { ...call, isAskedAnyway: true, confirmation: { ...call.confirmation, title: reason } };
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

interface Permitted {
  readonly call: Call;
  readonly asked: GateCall;
  readonly permit: Extract<Permit, { kind: 'granted' }>;
  readonly notes: readonly string[];
}

/** What a person wrote into the input is new to the gates: they look at it again. */
async function runPermitted(
  turn: TurnRunner,
  tool: HostTool,
  { call, asked, permit, notes }: Permitted,
): Promise<ToolOutcome> {
  const input = permit.input ?? asked.input;
  const isEdited = inputText(input) !== call.toolInput;
  const again = isEdited ? await passGates(turn, call, { ...asked, input }) : undefined;
  if (again?.kind === 'denied') return refuseRunning(turn, call, again.reason);
  const outcome = await complete(turn, call, await runSafely(turn, tool, { call, input }));
  return withNotes(turn, { ...asked, input }, { outcome, notes: [...notes, ...(again?.notes ?? [])] });
}

/** A tool that fails is a result, not the end of the turn. */
async function runSafely(
  turn: TurnRunner,
  tool: HostTool,
  { call, input }: { call: Call; input: unknown },
): Promise<ToolCallResult> {
  const { toolCallId, name } = call;
  const limit = new TimeLimit(turn, tool.timeoutMs);
  try {
    const running = tool.run(input, {
      cwd: turn.workingDirectory,
      signal: limit.signal,
      progress: (content) =>
        turn.write({ type: 'session/toolCallContentChanged', turnId: turn.id, toolCallId, content }),
      confirm: async (confirmation) => (await permissionAgain(turn, { ...call, confirmation })).kind === 'granted',
      ask: (request) => turn.ask(request),
      earlier: () => earlierInputs(turn.session.state, name),
    });
    return await Promise.race([running, limit.passed]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof OverdueError ? { code: 'TIMEOUT' } : {};
    return { success: false, pastTenseMessage: `${tool.displayName} failed`, error: { message, ...code } };
  } finally {
    limit.end();
  }
}

class OverdueError extends Error {}

/** The signal of a call: fires with the turn's, and when the tool's own time is up. */
class TimeLimit {
  readonly signal: AbortSignal;
  /** Rejects when the time is up; never resolves. */
  readonly passed: Promise<never>;
  readonly end: () => void;

  constructor(turn: TurnRunner, timeoutMs: number | undefined) {
    const overdue = new AbortController();
    this.signal = AbortSignal.any([turn.signal, overdue.signal]);
    this.passed = new Promise((_resolve, reject) => {
      overdue.signal.addEventListener('abort', () => reject(overdue.signal.reason), { once: true });
    });
    const error = new OverdueError(`it took longer than ${(timeoutMs ?? 0) / 1_000} s and was stopped`);
    const { clock } = turn.session.parts.core;
    this.end = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, () => overdue.abort(error));
  }
}
