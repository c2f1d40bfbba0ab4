/**
 * A question for permission: the whole call, and one key for each answer. A key that lets the call run does nothing
 * until the end of the call has been on the screen.
 */
import {
  alwaysPlaces,
  asksAboutPlan,
  callPermission,
  membersBesideEdits,
  permissionWords,
  type ToolInputMember,
  toolInputMembers,
  toolInputObject,
} from '@atrium/protocol/ahp-1';
import {
  approve,
  deny,
  lastingOption,
  type OpenAction,
  plain,
  plainOption,
  type Target,
} from '../sessions/turn-text.js';
import { printable, shownRows } from '../text/printable.js';
import type { Style } from '../text/style.js';
import { wrap } from '../text/width.js';
import type { ViewOptions } from './call-view.js';
import { Editor, type EditorView, editorView } from './editor.js';
import type { EditDiff } from './edits.js';
import type { Key } from './keys.js';
import { type KeyHint, keyHintLines, Pager, READ_ON } from './pager.js';
import { planLines } from './plan-lines.js';
import type { ShownInput } from './tool-inputs.js';

/** What a key means: an answer, to write something first, or to show everything. */
type Choice = OpenAction | 'edit' | 'reason' | 'view' | undefined;

export function choiceOf(key: Key, target: Target): Choice {
  if (key.name !== 'text' || key.text === undefined) return undefined;
  const { call } = target;
  const lasting = lastingOption(call);
  // A key that is held down arrives many times.
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
  /** The input, if the call itself names it by reference only. */
  readonly input?: ShownInput;
  /** How many calls ask, including this one. */
  readonly waiting: number;
}

/** The line at the bottom of the window, and the one that the screen keeps free. */
const OTHER_ROWS = 2;
const ROWS = 24;

export class Approval {
  readonly target: Target;
  readonly #pager = new Pager();
  #laidOut:
    | { readonly key: string; readonly diffs: readonly EditDiff[]; readonly lines: readonly string[] }
    | undefined;
  /** The input that has been on the screen as a whole. */
  #input: string | undefined;

  constructor(target: Target) {
    this.target = target;
  }

  /** True if the question is still about this call. The person has to read a changed call again. */
  isAbout({ call }: Target): boolean {
    return call === this.target.call || JSON.stringify(call) === JSON.stringify(this.target.call);
  }

  press(key: Key): Choice {
    if (this.#pager.press(key)) return undefined;
    const choice = choiceOf(key, this.target);
    // The whole text goes to the screen, above the question, which then shows its end.
    if (choice === 'view') this.#pager.toEnd();
    // A text that does not fit into the window does not fit into the editor either.
    if (choice === 'edit' && this.#pager.isPaged) return undefined;
    return (this.#pager.isRead && this.#input !== undefined) || !runs(choice) ? choice : undefined;
  }

  view(frame: ApprovalFrame): string[] {
    const { rows = ROWS } = frame;
    const { call } = this.target;
    const input = inputOf(call, frame);
    this.#input = input.state === 'here' ? input.text : undefined;
    const isComplete = this.#input !== undefined && frame.diffs.every(({ isLoading }) => !isLoading);
    const lines = this.#lines(frame);
    const room = rows - OTHER_ROWS;
    const whole = keyHintLines(hintsOf(call, false), frame);
    const paged = keyHintLines([READ_ON, ...hintsOf(call, true)], frame);
    const keys = lines.length + whole.length <= room ? whole : paged;
    const shown = this.#pager.view(lines, room - keys.length, frame, isComplete);
    if (this.#pager.isRead) return [...shown, ...keys];
    return [
      ...shown,
      ...keyHintLines([...(this.#pager.isPaged ? [READ_ON] : []), ...denialsOf(call), SHOW_ALL], frame),
    ];
  }

  /** Lays a long text out once for each width and each state of its diffs. */
  #lines(frame: ApprovalFrame): readonly string[] {
    const { state } = inputOf(this.target.call, frame);
    const key = [frame.columns, frame.waiting, state, frame.diffs.map(({ isLoading }) => isLoading)].join();
    if (this.#laidOut?.key !== key || this.#laidOut.diffs !== frame.diffs)
      this.#laidOut = { key, diffs: frame.diffs, lines: wholeCall(this.target, frame) };
    return this.#laidOut.lines;
  }
}

function runs(choice: Choice): boolean {
  return choice === 'edit' || (typeof choice === 'object' && 'approved' in choice && choice.approved);
}

/** Room behind the title for the number of questions. */
const COUNT_COLUMNS = 16;

/** The question, the tool, and its whole input. */
export function wholeCall(target: Target, frame: ApprovalFrame): string[] {
  const { style, columns, waiting } = frame;
  const count = waiting > 1 ? style.dim(`  (1 of ${waiting})`) : '';
  const title = wrap(titleOf(target), columns - (waiting > 1 ? COUNT_COLUMNS : 2)).map(
    (line, index) => style.yellow(style.bold(`${index === 0 ? '? ' : '  '}${line}`)) + (index === 0 ? count : ''),
  );
  const permission = callPermission(target.call);
  const said = permission && permissionWords(permission);
  const why = said === undefined ? [] : wrap(printable(said), columns - 2).map((line) => style.dim(`  ${line}`));
  return [...title, ...why, ...toolLines(target, frame), ...detailLines(target, frame)];
}

/** Joins blanks: many in a row could break the row early and make its rest look like a line of the chat. */
function titleOf({ call }: Target): string {
  return printable(plain(call.confirmationTitle) || plain(call.invocationMessage)).replace(/ {2,}/g, ' ');
}

/** A tool chooses its display name freely, so the name that the model calls stands beside it if they differ. */
function toolLines({ call }: Target, { style, columns }: ViewOptions): string[] {
  const { toolName, displayName } = call;
  const isItself = displayName.toLowerCase().replaceAll(' ', '_') === toolName.toLowerCase();
  if (isItself || asksAboutPlan(call)) return [];
  return shownRows(`tool: ${displayName} (${toolName})`.replace(/\s+/g, ' '), columns - 2, style).map((row) =>
    style.dim(`  ${row}`),
  );
}

function inputOf({ toolInput = '' }: Target['call'], { input }: ApprovalFrame): ShownInput {
  return typeof toolInput === 'string' ? { state: 'here', text: toolInput } : (input ?? { state: 'missing' });
}

/** The diffs, and the parts of the input that they do not show. */
function detailLines({ call }: Target, frame: ApprovalFrame): string[] {
  const { diffs, style } = frame;
  const input = inputOf(call, frame);
  if (input.state === 'loading') return [style.dim('  reading what it would be given …')];
  if (input.state === 'missing')
    return [style.yellow('  Its input cannot be read from the host, so it cannot be allowed here.')];
  const members = toolInputMembers(input.text);
  const plan = asksAboutPlan(call) ? onlyPlanOf(members) : undefined;
  const read = plan === undefined ? undefined : planLines(plan, frame);
  if (read) return read;
  if (diffs.some(({ isLoading }) => isLoading)) return [style.dim('  reading what would change …')];
  const shown = diffs.flatMap((diff) => (diff.texts ? [diff.texts] : []));
  const beside = membersBesideEdits(members, shown);
  return [
    ...beside.flatMap((member) => memberLines(member, frame)),
    ...diffs.flatMap((diff) => wholeDiff(diff, frame)),
  ];
}

/** The plan, where there is nothing beside it. */
function onlyPlanOf([plan, ...others]: readonly ToolInputMember[]): string | undefined {
  return plan?.name === 'plan' && others.length === 0 ? plan.text : undefined;
}

/** Rows of a long value begin with a sign: `│` where a line begins, `┆` where one continues. */
function memberLines({ name, text }: ToolInputMember, { style, columns }: ViewOptions): string[] {
  const lead = name === '' ? '' : `${name}: `;
  const room = columns - 2;
  const lines = text.split('\n');
  if (lines.length === 1) return ledRows(`${lead}${text}`, '  ', room, style);
  return [
    ...ledRows(`${lead}${lines.length} lines`, '  ', room, style),
    ...lines.flatMap((line) => ledRows(line, '│ ', room, style)),
  ];
}

function ledRows(line: string, lead: string, room: number, style: Style): string[] {
  return shownRows(line, room, style).map((row, index) => `${style.dim(index === 0 ? lead : '┆ ')}${row}`);
}

const SIGNS = { added: '+', removed: '-', same: ' ' } as const;

function wholeDiff(
  { file, path = file, lines, texts, added, removed }: EditDiff,
  { style, columns }: ViewOptions,
): string[] {
  const counts = added === undefined ? '' : `  ${style.green(`+${added}`)} ${style.red(`-${removed ?? 0}`)}`;
  const head = shownRows(path, columns - 20, style).map((row) => `  ${style.underline(row)}`);
  head.push(`${head.pop() ?? ''}${counts}`);
  if (lines === undefined) return [...head, style.yellow('    its content cannot be shown here; the input above can')];
  if (lines.length === 0)
    return [
      ...head,
      style.dim(`    ${texts?.before === texts?.after ? 'no change' : 'only the line break at its end changes'}`),
    ];
  const rows = lines.flatMap(({ kind, text }) => {
    if (kind === 'gap') return [style.dim('    ⋮')];
    const colour = kind === 'added' ? style.green : kind === 'removed' ? style.red : style.dim;
    return shownRows(text, columns - 4, style).map((row, index) =>
      colour(`${index === 0 ? `  ${SIGNS[kind]}` : '┆  '} ${row}`),
    );
  });
  return [...head, ...rows];
}

const SHOW_ALL: KeyHint = ['v', 'puts all of it above'];
const REASON: KeyHint = ['d', 'no, and say why'];

/** Options with a letter come after that letter; each other option has the digit of its place. */
function hintsOf(call: Target['call'], isPaged: boolean): KeyHint[] {
  const lasting = lastingOption(call);
  const named = [plainOption(call, 'approve'), plainOption(call, 'deny'), lasting];
  const places = alwaysPlaces(call);
  const [first] = places.keys();
  const others = (call.options ?? []).flatMap((option, index): KeyHint[] => {
    if (named.includes(option) || index > 8) return [];
    // Only the first of the options that write the rule shows it.
    const label = option === first ? option.label : (places.get(option) ?? option.label);
    return [[String(index + 1), `${option.kind === 'approve' ? '✓' : '✗'} ${printable(label)}`]];
  });
  return [
    ['y', printable(named[0]?.label ?? 'yes')],
    ['n', printable(named[1]?.label ?? 'no')],
    ...(lasting ? [['a', printable(lasting.label)] as const] : []),
    ...others,
    ...(call.editable && !isPaged ? [['e', asksAboutPlan(call) ? 'edit the plan' : 'edit first'] as const] : []),
    REASON,
    ...(isPaged ? [SHOW_ALL] : []),
  ];
}

/** The answers that are possible before the person has read the text. */
function denialsOf(call: Target['call']): KeyHint[] {
  return [['n', printable(plainOption(call, 'deny')?.label ?? 'no')], REASON];
}

export class Writing {
  readonly target: Target;
  readonly #purpose: 'edit' | 'reason';
  readonly #input: string;
  readonly #editor: Editor;
  #problem = '';

  /** `input` is the input of the call. */
  constructor(purpose: 'edit' | 'reason', target: Target, input = '') {
    this.target = target;
    this.#purpose = purpose;
    this.#input = input;
    this.#editor = new Editor(purpose === 'edit' ? inputText(input).value : '');
  }

  /** The answer when it is ready; `back` when the person would rather not write. */
  press(key: Key): OpenAction | 'back' | undefined {
    if (key.name === 'escape') return 'back';
    if (key.name === 'enter' && !key.alt && !key.shift) return this.#answer();
    this.#problem = '';
    this.#editor.press(key.name === 'enter' ? { name: 'newline' } : key);
    return undefined;
  }

  #answer(): OpenAction | undefined {
    const { text } = this.#editor;
    if (this.#purpose === 'reason') return deny(this.target, text.trim() === '' ? {} : { reason: text });
    const edited = editedInput(this.#input, text);
    if ('input' in edited) return approve(this.target, { editedInput: edited.input });
    this.#problem = edited.problem;
    return undefined;
  }

  view(view: ViewOptions): EditorView {
    const { style } = view;
    const { name = 'input' } = inputText(this.#input);
    const prompt = this.#purpose === 'edit' ? `${name}> ` : 'why not> ';
    const keys = this.#purpose === 'edit' ? 'Enter runs it like this' : 'Enter says no';
    const { lines, cursor } = editorView(this.#editor, { ...view, prompt });
    const problem = this.#problem === '' ? [] : [style.red(`  ${this.#problem}`)];
    return { lines: [...lines, ...problem, style.dim(`  ${keys} · Ctrl+J new line · Esc goes back`)], cursor };
  }
}

// The input of a call as a person edits it: a single value as plain text, anything else as indented JSON.

interface InputText {
  /** Shown before the text: the name of the only value, or nothing. */
  readonly name: string | undefined;
  /** The only value, or everything. */
  readonly value: string;
  /** Name and value together. */
  readonly text: string;
}

export function inputText(input = ''): InputText {
  const only = onlyValue(input);
  if (only) return { name: only[0], value: only[1], text: `${only[0]}: ${only[1]}` };
  const parsed = toolInputObject(input);
  const text = parsed === undefined ? input : JSON.stringify(parsed, null, 2);
  return { name: undefined, value: text, text };
}

function onlyValue(input: string): [string, string] | undefined {
  const [only, ...others] = Object.entries(toolInputObject(input) ?? {});
  return only && others.length === 0 && typeof only[1] === 'string' ? [only[0], only[1]] : undefined;
}

type Edited = { readonly input: string } | { readonly problem: string };

/** Turns the written text into input of the call. Input that was an object stays one. */
export function editedInput(before: string | undefined, written: string): Edited {
  const { name } = inputText(before);
  if (name !== undefined) return { input: JSON.stringify({ [name]: written }) };
  if (before === undefined || toolInputObject(before) === undefined) return { input: written };
  const value = toolInputObject(written);
  return value ? { input: JSON.stringify(value) } : { problem: 'This must be a JSON object, with { and }.' };
}
