/** What is said about a tool call in one line. */
import type { StringOrMarkdown, ToolCallState } from '@atrium/protocol';

export function toolMessage(call: ToolCallState): StringOrMarkdown {
  if (call.status === 'completed') return call.pastTenseMessage;
  return call.invocationMessage ?? '';
}

const CANCELLED = { denied: 'Denied', skipped: 'Skipped', 'result-denied': 'Result withheld' } as const;

export function stateWord(call: ToolCallState, isActive: boolean): string {
  if (call.status === 'cancelled') return CANCELLED[call.reason];
  if (call.status === 'completed') return call.success ? 'Done' : 'Failed';
  if (!isActive) return 'Stopped';
  if (call.status === 'streaming') return 'Preparing';
  return call.status === 'running' ? 'Running' : 'Needs you';
}

/** The input as people can read it: JSON with one member per line, everything else as it is. */
export function readableInput(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}
