/** A question for permission: what would happen, and one key for each answer. */
import type { SessionAction } from '@atrium/protocol';
import { approve, deny, lastingOption, type Target } from '../sessions/confirm.js';
import { plain } from '../sessions/turns.js';
import { printable, printableLines } from '../text/printable.js';
import { cut, wrap } from '../text/width.js';
import { diffView, type ViewOptions } from './call-view.js';
import type { EditDiff } from './edits.js';
import type { Key } from './keys.js';

const INPUT_LINES_MAX = 15;

/** What a key means: an answer, or that something has to be written first. */
export type Choice = SessionAction | 'edit' | 'reason' | undefined;

export function choiceOf(key: Key, target: Target): Choice {
  if (key.name !== 'text' || key.text === undefined) return undefined;
  const { call } = target;
  const lasting = lastingOption(call);
  const letter = key.text.toLowerCase();
  if (letter === 'y') return approve(target);
  if (letter === 'n') return deny(target);
  if (letter === 'a' && lasting) return approve(target, { option: lasting });
  if (letter === 'e' && call.editable) return 'edit';
  if (letter === 'd') return 'reason';
  const option = /^[1-9]$/.test(letter) ? call.options?.[Number(letter) - 1] : undefined;
  if (!option) return undefined;
  return option.kind === 'approve' ? approve(target, { option }) : deny(target, { option });
}

export interface ApprovalFrame extends ViewOptions {
  readonly diffs: readonly EditDiff[];
  /** How many ask, this one included. */
  readonly waiting: number;
}

export function approvalLines({ call }: Target, { style, columns, diffs, waiting }: ApprovalFrame): string[] {
  const title = printable(plain(call.confirmationTitle) || plain(call.invocationMessage));
  const count = waiting > 1 ? style.dim(`  (1 of ${waiting})`) : '';
  const detail =
    diffs.length > 0 ? diffs.flatMap((diff) => diffView(diff, { style, columns })) : inputLines(call.toolInput);
  const options = (call.options ?? []).map(
    ({ label }, index) => `  ${style.bold(String(index + 1))} ${printable(label)}`,
  );
  return [
    ...wrap(title, columns - 4)
      .map((line) => style.yellow(style.bold(`? ${line}`)))
      .map((line, index) => line + (index === 0 ? count : '')),
    ...detail.map((line) => cut(line, columns)),
    ...options.map((line) => cut(line, columns)),
    cut(
      `  ${keysOf(call)
        .map(([letter, meaning]) => `${style.bold(letter)} ${meaning}`)
        .join(style.dim(' · '))}`,
      columns,
    ),
  ];
}

function keysOf(call: Target['call']): [string, string][] {
  return [
    ['y', 'yes'],
    ['n', 'no'],
    ...(lastingOption(call) ? [['a', 'allow in this session'] as [string, string]] : []),
    ...(call.editable ? [['e', 'edit first'] as [string, string]] : []),
    ['d', 'no, and say why'],
  ];
}

/** The input as a person reads it: a command as it is, anything else as indented JSON. */
export function inputLines(input: string | undefined): string[] {
  if (input === undefined || input === '') return [];
  const lines = printableLines(readable(input)).split('\n');
  const shown = lines.slice(0, INPUT_LINES_MAX).map((line) => `  ${line}`);
  return lines.length > shown.length ? [...shown, `  … ${lines.length - shown.length} more lines`] : shown;
}

function readable(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const [only] = entries;
    if (entries.length === 1 && only && typeof only[1] === 'string') return `${only[0]}: ${only[1]}`;
    return JSON.stringify(value, null, 2);
  } catch {
    return input;
  }
}
