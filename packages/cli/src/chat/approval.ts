/** A question for permission: what would happen, whole or with a key to see the rest, and one key for each answer. */
import type { SessionAction } from '@atrium/protocol';
import { approve, deny, lastingOption, plainOption, type Target } from '../sessions/confirm.js';
import { plain } from '../sessions/turns.js';
import { printable } from '../text/printable.js';
import { wrap } from '../text/width.js';
import { diffView, type ViewOptions } from './call-view.js';
import type { EditDiff } from './edits.js';
import { inputText, shownInput } from './input-text.js';
import { flowed, type KeyHint } from './key-hints.js';
import type { Key } from './keys.js';

/** What a key means: an answer, that something has to be written first, or that everything should be shown. */
export type Choice = SessionAction | 'edit' | 'reason' | 'view' | undefined;

export function choiceOf(key: Key, target: Target): Choice {
  if (key.name !== 'text' || key.text === undefined) return undefined;
  const { call } = target;
  const lasting = lastingOption(call);
  // A key that is held arrives as many of it.
  const letter = key.text.toLowerCase().replace(/^(.)\1+$/u, '$1');
  if (letter === 'y') return approve(target);
  if (letter === 'n') return deny(target);
  if (letter === 'a' && lasting) return approve(target, { option: lasting });
  if (letter === 'e' && call.editable) return 'edit';
  if (letter === 'd') return 'reason';
  if (letter === 'v') return 'view';
  const option = /^[1-9]$/.test(letter) ? call.options?.[Number(letter) - 1] : undefined;
  if (!option) return undefined;
  return option.kind === 'approve' ? approve(target, { option }) : deny(target, { option });
}

export interface ApprovalFrame extends ViewOptions {
  readonly diffs: readonly EditDiff[];
  /** How many ask, this one included. */
  readonly waiting: number;
}

/** Rows that are taken by the line above, the answers and the status. */
const OTHER_ROWS = 8;
/** Room behind the title for the number of questions. */
const COUNT_COLUMNS = 16;
const DETAIL_ROWS_MIN = 3;
const DETAIL_ROWS_MAX = 30;

export function approvalLines(target: Target, frame: ApprovalFrame): string[] {
  const { style, columns, rows = DETAIL_ROWS_MAX, waiting } = frame;
  const title = wrap(titleOf(target), columns - (waiting > 1 ? COUNT_COLUMNS : 2));
  const count = waiting > 1 ? style.dim(`  (1 of ${waiting})`) : '';
  const head = title.map(
    (line, index) => style.yellow(style.bold(`${index === 0 ? '? ' : '  '}${line}`)) + (index === 0 ? count : ''),
  );
  const room = Math.max(DETAIL_ROWS_MIN, Math.min(DETAIL_ROWS_MAX, rows - OTHER_ROWS - title.length));
  const all = detailLines(target, frame);
  const isWhole = all.length <= room;
  const detail = isWhole ? all : [...all.slice(0, room - 1), style.dim(`  … ${all.length - room + 1} more lines`)];
  return [...head, ...detail, ...flowed(hintsOf(target.call, isWhole), frame)];
}

/** Everything, for the scrollback. */
export function wholeCall(target: Target, frame: Omit<ApprovalFrame, 'waiting'>): string[] {
  const { style } = frame;
  return [style.bold(titleOf(target)), ...detailLines(target, frame, true), ''];
}

function titleOf({ call }: Target): string {
  return printable(plain(call.confirmationTitle) || plain(call.invocationMessage));
}

/** Nothing is cut at the edge: a command whose end nobody sees is nothing to say yes to. */
function detailLines(target: Target, frame: Omit<ApprovalFrame, 'waiting'>, isWhole = false): string[] {
  const { diffs } = frame;
  if (diffs.length > 0) return diffs.flatMap((diff) => diffView(diff, frame, isWhole));
  const input = inputText(target.call.toolInput);
  const isInTitle = titleOf(target).includes(`"${input.value}"`);
  return isInTitle ? [] : shownInput(input.text, frame.columns, isWhole);
}

/** Options that have a letter are named behind it; all others have the digit of their place. */
function hintsOf(call: Target['call'], isWhole: boolean): KeyHint[] {
  const lasting = lastingOption(call);
  const named = [plainOption(call, 'approve'), plainOption(call, 'deny'), lasting];
  const others = (call.options ?? []).flatMap((option, index): KeyHint[] =>
    named.includes(option) || index > 8 ? [] : [[String(index + 1), printable(option.label)]],
  );
  return [
    ['y', printable(named[0]?.label ?? 'yes')],
    ['n', printable(named[1]?.label ?? 'no')],
    ...(lasting ? [['a', printable(lasting.label)] as const] : []),
    ...others,
    ...(call.editable ? [['e', 'edit first'] as const] : []),
    ['d', 'no, and say why'],
    ...(isWhole ? [] : [['v', 'show all of it'] as const]),
  ];
}
