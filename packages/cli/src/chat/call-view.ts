/** A tool call on the screen: what it does, the end of its output, and what it changes. */
import { decisionWords, type FileEdit, type ToolCallState } from '@atrium/protocol/ahp-1';
import { outputText, plain } from '../sessions/turn-text.js';
import { printable, printableOutput } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { cut } from '../text/width.js';
import type { EditDiff } from './edits.js';
import { terminalIn } from './live-terminals.js';
import type { WorkerView } from './live-workers.js';
import { pictureLine, picturesOfCall } from './pictures.js';

/** The chat shows the end of a long output. */
const OUTPUT_LINES_MAX = 10;
/** How much of the end of an output the chat reads, however long it is. */
const OUTPUT_LOOK_CHARACTERS = 20_000;
const DIFF_LINES_MAX = 30;
/** The host's code for a call that ran when its turn was stopped. */
const STOPPED = 'STOPPED';

export interface ViewOptions {
  readonly style: Style;
  readonly columns: number;
  /** The height of the window, for texts that may have to be shortened. */
  readonly rows?: number;
  /** The address behind the name of a file. */
  readonly fileAddress?: ((place: string) => string | undefined) | undefined;
}

/** Facts about a call beside its state. */
interface CallFacts {
  readonly diffs: readonly EditDiff[];
  /** The end of its terminal's output, if the call itself does not carry it. */
  readonly tail?: string;
  /** The workers that the call started. */
  readonly workers?: readonly WorkerView[];
}

export function callLines(call: ToolCallState, facts: CallFacts, options: ViewOptions): string[] {
  const { diffs, tail = '', workers = [] } = facts;
  const { style, columns } = options;
  const head = cut(`${markOf(call, style)} ${style.bold(printable(call.displayName))}  ${sentence(call)}`, columns);
  return [
    head,
    ...reason(call, options),
    ...decision(call, options),
    ...diffs.flatMap((diff) => diffView(diff, options)),
    ...workers.map((worker) => workerLine(worker, options)),
    ...(saysItsFailure(call) ? [] : outputLines(shownOutput(call) || tail, options)),
    ...picturesOfCall(call).map((picture) => pictureLine(picture, options)),
    ...terminalHint(call, options),
  ];
}

function markOf(call: ToolCallState, style: Style): string {
  if (wasStopped(call)) return style.yellow('–');
  if (call.status === 'completed') return call.success ? style.green('✓') : style.red('✗');
  if (call.status === 'cancelled') return style.yellow('–');
  return call.status.startsWith('pending') ? style.yellow('?') : style.cyan('●');
}

/** A person stopped the turn while it ran. */
function wasStopped(call: ToolCallState): boolean {
  return call.status === 'completed' && call.error?.code === STOPPED;
}

function sentence(call: ToolCallState): string {
  if (call.status === 'completed') return printable(plain(call.pastTenseMessage));
  return printable(plain(call.invocationMessage));
}

function reason(call: ToolCallState, { style, columns }: ViewOptions): string[] {
  if (call.status === 'cancelled') {
    const why = printable(plain(call.reasonMessage));
    const word = call.reason === 'skipped' ? 'not finished' : 'denied';
    return [style.dim(cut(`  ${word}${why === '' ? '' : `: ${why}`}`, columns))];
  }
  const message = call.status === 'completed' && !call.success ? call.error?.message : undefined;
  const paint = wasStopped(call) ? style.dim : style.red;
  return message === undefined ? [] : [paint(cut(`  ${printable(message)}`, columns))];
}

/** The rule or the person that let it run. */
function decision(call: ToolCallState, { style, columns }: ViewOptions): string[] {
  const words = decisionWords(call);
  return words === undefined ? [] : [style.dim(cut(`  ${printable(words)}`, columns))];
}

/** Many failed tools have only their message as output. */
function saysItsFailure(call: ToolCallState): boolean {
  return call.status === 'completed' && !call.success && call.error?.message.trim() === outputText(call).trim();
}

const TODO_TOOL = 'todo_list';

/** The list of tasks is above the input, so the transcript shows only the current task. */
function shownOutput(call: ToolCallState): string {
  const output = outputText(call);
  if (call.toolName !== TODO_TOOL || call.status !== 'completed' || !call.success) return output;
  const lines = output.split('\n');
  const active = lines.find((line) => line.startsWith('- [>] '));
  const line = active ?? lines.findLast((each) => each.startsWith('- [x] ')) ?? lines[0] ?? '';
  return line
    .replace(/^- \[>\]/, '▸')
    .replace(/^- \[x\]/, '✓')
    .replace(/^- \[ \]/, '·');
}

function outputLines(output: string, { style, columns }: ViewOptions): string[] {
  const text = printableOutput(output.slice(-OUTPUT_LOOK_CHARACTERS)).trimEnd();
  if (text === '') return [];
  const lines = text.split('\n');
  const shown = lines.slice(-OUTPUT_LINES_MAX).map((line) => style.dim(cut(`  ${line}`, columns)));
  const hidden = lines.length - shown.length;
  return hidden > 0 ? [style.dim(`  … ${hidden} lines above`), ...shown] : shown;
}

/** `/chats` goes to it. */
function workerLine({ title, state, doing }: WorkerView, { style, columns }: ViewOptions): string {
  const text = `  └ ${title}: ${state}${doing === '' ? '' : ` · ${doing}`}`;
  return (state === 'asks you' ? style.yellow : style.dim)(cut(text, columns));
}

/** A command may ask for input, so the hint says how to enter its terminal. */
function terminalHint(call: ToolCallState, { style, columns }: ViewOptions): string[] {
  if (call.status !== 'running' || terminalIn(call) === undefined) return [];
  return [style.dim(cut('  /terminal or Ctrl+T goes into its terminal', columns))];
}

function diffView({ file, lines, added, removed }: EditDiff, { style, columns }: ViewOptions): string[] {
  const counts = added === undefined ? '' : `  ${style.green(`+${added}`)} ${style.red(`-${removed ?? 0}`)}`;
  const head = `  ${style.underline(cut(file, columns - 20))}${counts}`;
  const all = lines ?? [];
  const shown = all.slice(0, DIFF_LINES_MAX).map(({ kind, text }) => {
    const safe = (sign: string) => cut(`  ${sign} ${printable(text.replace(/\s+$/, ''))}`, columns);
    if (kind === 'added') return style.green(safe('+'));
    if (kind === 'removed') return style.red(safe('-'));
    return style.dim(kind === 'gap' ? '    ⋮' : safe(' '));
  });
  const hidden = all.length - shown.length;
  return [head, ...shown, ...(hidden > 0 ? [style.dim(`    … ${hidden} more lines`)] : [])];
}

/** The edits that a call made. */
export function editsOf(call: ToolCallState): FileEdit[] {
  if (call.status === 'pending-confirmation') return call.edits?.items ?? [];
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'fileEdit' ? [block] : []));
}
