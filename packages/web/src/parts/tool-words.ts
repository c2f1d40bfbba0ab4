/** One line about a tool call: its title, its state, its changed lines. */
import { decisionWords, type StringOrMarkdown, type ToolCallState } from '@atrium/protocol/ahp-1';

export function toolMessage(call: ToolCallState): StringOrMarkdown {
  if (call.status === 'completed') return call.pastTenseMessage;
  return call.invocationMessage ?? '';
}

const CANCELLED = { denied: 'Denied', skipped: 'Not finished', 'result-denied': 'Result withheld' } as const;

export function stateWord(call: ToolCallState, isActive: boolean): string {
  if (call.status === 'cancelled') return CANCELLED[call.reason];
  if (call.status === 'completed') return call.success ? 'Done' : failedWord(call);
  if (!isActive) return 'Stopped';
  if (call.status === 'streaming') return 'Preparing';
  return call.status === 'running' ? 'Running' : 'Needs you';
}

/** The codes for calls that the end of the host, or a person, cut off. */
const CUT_OFF: Readonly<Record<string, string>> = { INTERRUPTED: 'Interrupted', STOPPED: 'Stopped' };

function failedWord({ error }: Extract<ToolCallState, { status: 'completed' }>): string {
  return CUT_OFF[error?.code ?? ''] ?? 'Failed';
}

/** The style of a call: finished ones are quiet, failed and asking ones are not. */
export type CallLook = 'asking' | 'busy' | 'done' | 'failed' | 'ended';

export function lookOf(call: ToolCallState, isActive: boolean): CallLook {
  if (call.status === 'completed' && call.error?.code === 'STOPPED') return 'ended';
  if (call.status === 'completed') return call.success ? 'done' : 'failed';
  if (call.status === 'cancelled' || !isActive) return 'ended';
  return call.status === 'running' || call.status === 'streaming' ? 'busy' : 'asking';
}

/** The first line of the failure; the unfolded call shows the rest. */
export function failureOf(call: ToolCallState): string {
  if (call.status !== 'completed' || call.success) return '';
  return (call.error?.message ?? outputOf(call)).trim().split('\n', 1)[0] ?? '';
}

/** The reason why it did not run: the first line from the rule, the gate or the person that said no. */
export function denialOf(call: ToolCallState): string {
  if (call.status !== 'cancelled') return '';
  const by = decisionWords(call) ?? (call.reason === 'denied' ? 'Denied by a person' : '');
  const why = plainText(call.reasonMessage).trim() || by;
  const advice = call.userSuggestion?.text.trim() ?? '';
  const [first = ''] = why.split('\n', 1);
  return advice === '' ? first : `${first}: “${advice.replace(/\s+/g, ' ')}”`;
}

/** True if the output of the tool already contains the error. */
export function isErrorTold(call: ToolCallState): boolean {
  if (call.status !== 'completed' || !call.error) return true;
  return outputOf(call).includes(call.error.message);
}

function outputOf(call: ToolCallState): string {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

interface EditCount {
  readonly added: number;
  readonly removed: number;
}

/** Added and removed lines in all files together. */
export function editCount(call: ToolCallState): EditCount | undefined {
  const content = 'content' in call ? (call.content ?? []) : [];
  const diffs = content.flatMap((block) => (block.type === 'fileEdit' && block.diff ? [block.diff] : []));
  if (diffs.length === 0) return undefined;
  const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, n) => all + (n ?? 0), 0);
  return { added: sum(diffs.map(({ added }) => added)), removed: sum(diffs.map(({ removed }) => removed)) };
}

/** A tool chooses its display name freely, so a permission question also shows the real name if the two differ. */
export function isNamedOtherwise({ displayName, toolName }: Pick<ToolCallState, 'displayName' | 'toolName'>): boolean {
  return displayName.toLowerCase().replaceAll(' ', '_') !== toolName.toLowerCase();
}

/** Markdown as plain text: a permission question must not contain links or pictures of a tool. */
export function plainText(text: StringOrMarkdown | undefined): string {
  return typeof text === 'string' ? text : (text?.markdown ?? '');
}
