/** Runs the tool calls of a step through the turn, and makes results for the model of what came out. */
import type { ToolModelMessage, ToolResultPart } from 'ai';
import type { AgentTurn, BegunCall, ToolOutcome } from '../../core/contracts/agent.js';
import { untilAborted } from '../../core/util/waiting.js';
import { CALLS_PER_STEP_MAX } from './limits.js';
import { goodOutput } from './sight.js';

/** The result of a call that was cut off: the model must not take it for one that did not run at all. */
export const TURN_ENDED_FIRST = 'The turn ended before this call was done; it may have run in part.';

/** A call as the model made it. */
export interface ModelCall {
  readonly id: string;
  /** As the model knows the tool. */
  readonly name: string;
  readonly input: unknown;
  /** What is wrong with it, when it cannot be run. */
  readonly problem: string | undefined;
  /** As people see it already; absent for those that were too many, which are not run. */
  readonly begun: BegunCall | undefined;
}

const TOO_MANY =
  `Not run: at most ${CALLS_PER_STEP_MAX} calls can be made in one step. ` +
  'Make this one in a later step, if it is still needed.';

/** All calls run side by side; results come in the order in which the model made them. */
export async function runCalls(turn: AgentTurn, calls: readonly ModelCall[]): Promise<ToolModelMessage> {
  const results = calls.map(async (call) => resultPart(call, outputOf(await runCall(turn, call))));
  return { role: 'tool', content: await Promise.all(results) };
}

/** Stands in for results that never came, because the turn ended first. */
export function abandoned(calls: readonly ModelCall[]): ToolModelMessage {
  const output = { type: 'error-text' as const, value: TURN_ENDED_FIRST };
  return { role: 'tool', content: calls.map((call) => resultPart(call, output)) };
}

async function runCall(turn: AgentTurn, { begun, input, problem }: ModelCall): Promise<ToolOutcome> {
  if (!begun) return { kind: 'completed', success: false, text: TOO_MANY, content: [] };
  return untilAborted(turn.signal, problem === undefined ? begun.run(input) : begun.fail(problem));
}

function outputOf(outcome: ToolOutcome): ToolResultPart['output'] {
  if (outcome.kind === 'denied') return { type: 'execution-denied', reason: `The call was denied: ${outcome.reason}` };
  const { success, text, content } = outcome;
  return success ? goodOutput(text, content) : { type: 'error-text', value: text };
}

function resultPart({ id, name }: ModelCall, output: ToolResultPart['output']): ToolResultPart {
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}
