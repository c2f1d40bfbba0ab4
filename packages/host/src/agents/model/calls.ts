/** Runs the tool calls of a step through the turn, and makes results for the model of what came out. */
import type { ToolModelMessage, ToolResultPart } from 'ai';
import type { AgentTurn, ToolOutcome } from '../agent.js';
import { untilAborted } from '../scripted/pace.js';
import type { ToolTable } from './tool-table.js';

/** A call as the model made it. */
export interface ModelCall {
  readonly id: string;
  /** As the model knows the tool. */
  readonly name: string;
  readonly input: unknown;
  /** What is wrong with it, when it cannot be run. */
  readonly problem: string | undefined;
}

/** All calls begin in the order in which the model made them; results come in the same order. */
export async function runCalls(
  turn: AgentTurn,
  calls: readonly ModelCall[],
  tools: ToolTable,
): Promise<ToolModelMessage> {
  const results = calls.map(async (call) => resultPart(call, outputOf(await runCall(turn, call, tools))));
  return { role: 'tool', content: await Promise.all(results) };
}

/** Stands in for results that never came, because the turn ended first. */
export function abandoned(calls: readonly ModelCall[]): ToolModelMessage {
  const output = { type: 'error-text' as const, value: 'The turn was ended before this call was done.' };
  return { role: 'tool', content: calls.map((call) => resultPart(call, output)) };
}

/** Ids of models repeat from turn to turn, so the host makes up its own. */
function runCall(turn: AgentTurn, call: ModelCall, tools: ToolTable): Promise<ToolOutcome> {
  if (call.problem !== undefined) return untilAborted(turn.signal, refuse(turn, call, call.problem));
  const name = tools.get(call.name)?.name ?? call.name;
  return untilAborted(turn.signal, turn.callTool({ name, input: call.input }));
}

/** A call that cannot be run is shown like one that failed. */
function refuse(turn: AgentTurn, { name, input }: ModelCall, problem: string): Promise<ToolOutcome> {
  return turn.cannedTool({
    name,
    displayName: name,
    invocationMessage: `Use ${name}`,
    pastTenseMessage: `Could not use ${name}`,
    input: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    output: problem,
    success: false,
  });
}

function outputOf(outcome: ToolOutcome): ToolResultPart['output'] {
  if (outcome.kind === 'denied') return { type: 'execution-denied', reason: `The call was denied: ${outcome.reason}` };
  return { type: outcome.success ? 'text' : 'error-text', value: outcome.text };
}

function resultPart({ id, name }: ModelCall, output: ToolResultPart['output']): ToolResultPart {
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}
