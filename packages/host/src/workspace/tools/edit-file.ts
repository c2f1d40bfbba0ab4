/** `edit_file`: replaces exact text in a file, whose line endings may differ from those in the request. */
import { createHash } from 'node:crypto';
import { type PreviewContext, type ToolContext, ToolFailure, type ToolOutput } from '@atrium/core/contracts/tool.js';
import { comingEdit, diffText, doneEdit, type TextChange } from '@atrium/core/util/file-edit.js';
import { resolveInside } from '@atrium/core/util/paths.js';
import { oneAtATime } from '@atrium/core/util/scheduling.js';
import { count, sizeText } from '@atrium/core/util/text.js';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool } from './host-tool.js';
import {
  changedMeanwhile,
  EDIT_MAX_BYTES,
  existingFile,
  readText,
  replaceFile,
  resolveTarget,
  type TextFile,
} from './text-files.js';
import { writeConfirmation } from './write-file.js';

/** How many files' edits are remembered; the file that was edited first is forgotten first. */
const EDITED_FILES_MAX = 1_000;
/** How many edits of one file are remembered between a question and its answer. A model requests a few at a time. */
const EDITS_BESIDE_MAX = 32;

/** The input of `edit_file`. */
interface Input {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly all?: boolean;
}

/** Which file a person saw, and a digest of its content. */
interface Basis {
  readonly real: string;
  readonly digest: string;
}

export const editFileTool = hostTool({
  name: 'edit_file',
  displayName: 'Edit file',
  description:
    'Replaces a piece of a text file. "oldText" must match the file exactly, white space included, and only once unless ' +
    '"all" is true. The file keeps its line endings. A person sees the change first.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: {
    path: { type: 'string', minLength: 1, description: "The file, relative to the session's folder." },
    oldText: { type: 'string', minLength: 1, description: 'The text to replace, with enough context to be unique.' },
    newText: { type: 'string', description: 'The text to put in its place. Empty to remove it.' },
    all: { type: 'boolean', description: 'Replaces every occurrence. Default: false.' },
  },
  required: ['path', 'oldText', 'newText'],
  invocation: ({ path }) => `Edit ${path}`,
  confirmation: ({ path }) => writeConfirmation(`Edit ${path}?`),
  async preview(input, context) {
    const { change } = await plan(input, context);
    return { edits: [comingEdit(change)], basis: basisOf(change) };
  },
  async run(input, context) {
    const { real } = await resolveTarget(foldersOf(context), input.path);
    return oneAtATime(real, () => edit(input, context));
  },
});

async function edit(input: Input, context: ToolContext): Promise<ToolOutput> {
  const { change, version, replaced } = await plan(input, context);
  await replaceFile(change.file, { content: Buffer.from(change.after), before: version, signal: context.signal });
  remember(change, context);
  const { shown } = change.file;
  const text = `Edited ${shown}: ${count(replaced, 'occurrence')} replaced, ${diffText(change)}.`;
  return {
    success: true,
    pastTenseMessage: `Edited ${shown}`,
    content: [{ type: 'text', text }, ...doneEdit(change)],
  };
}

function basisOf({ file, before }: Edit): Basis {
  return { real: file.real, digest: digestOf(before.text) };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function editsKey(file: TextChange['file'], { session = '' }: PlanContext): string {
  return JSON.stringify([session, file.real]);
}

function remember({ file, before, after }: Edit, context: ToolContext): void {
  const key = editsKey(file, context);
  const made = [...(edits.get(key) ?? []), [digestOf(before.text), digestOf(after)] as const];
  edits.delete(key);
  edits.set(key, made.slice(-EDITS_BESIDE_MAX));
  const [oldest] = edits.keys();
  if (edits.size > EDITED_FILES_MAX && oldest !== undefined) edits.delete(oldest);
}

/**
 * Refuses a file that differs from the one that the person was shown, unless only this session's other edits changed
 * it.
 */
function checkAsShown(file: TextChange['file'], text: string, context: PlanContext): void {
  const shown = context.basis as Basis | undefined;
  if (!shown) return;
  const present = digestOf(text);
  let expected = shown.digest;
  // After an earlier edit was undone, the file is again as shown.
  for (const [before, after] of edits.get(editsKey(file, context)) ?? []) {
    if (expected === present) break;
    if (before === expected) expected = after;
  }
  if (shown.real !== file.real || expected !== present) throw changedMeanwhile(file);
}

type PlanContext = PreviewContext & Pick<ToolContext, 'basis' | 'session'>;

type Edit = TextChange & { readonly before: { readonly text: string } };

async function plan(input: Input, context: PlanContext) {
  const { signal } = context;
  // Reports a missing file; `resolveTarget` then applies the rules for writing.
  await resolveInside(foldersOf(context), input.path);
  const file = await resolveTarget(foldersOf(context), input.path);
  const version = await existingFile(file);
  if (!version) throw new ToolFailure('NOT_FOUND', `There is no "${input.path}" in the session's folder.`);
  if (version.size > EDIT_MAX_BYTES) {
    throw new ToolFailure('TOO_LARGE', `${file.shown} is larger than ${sizeText(EDIT_MAX_BYTES)}.`);
  }
  const old = await readText(file, version);
  if (!old) throw new ToolFailure('BINARY', `${file.shown} is not text in UTF-8; it cannot be edited.`);
  const before = old.bom + old.text;
  checkAsShown(file, before, context);
  const { text, replaced } = edited(old, input, file.shown);
  signal.throwIfAborted();
  const change: Edit = { file, before: { text: before }, after: old.bom + text };
  return { change, version, replaced };
}

function edited(file: TextFile, { oldText, newText, all = false }: Input, shown: string) {
  if (oldText === newText) throw new ToolFailure('BAD_INPUT', '"oldText" and "newText" are the same.');
  const { text, found, isAmbiguous } = replaceText(file, oldText, newText);
  if (found === 0) {
    const advice = 'Read the file again and copy the text exactly.';
    throw new ToolFailure('NO_MATCH', `"oldText" is not in ${shown}. ${advice}`);
  }
  if (isAmbiguous && !all) {
    const advice = 'Give more of the text around it, or set "all" to true.';
    throw new ToolFailure('AMBIGUOUS', `"oldText" is in ${shown} ${Math.max(found, 2)} times. ${advice}`);
  }
  return { text, replaced: found };
}

/** The result of replacing exact text in a file. */
interface Replacement {
  /** The text with every occurrence replaced. */
  readonly text: string;
  readonly found: number;
  /** Whether the text occurs in more than one place. */
  readonly isAmbiguous: boolean;
}

/**
 * Replaces the text, with the file's line endings in the new one. Looks for the old text first as given, then with
 * those line endings.
 */
function replaceText({ text, lineEnding }: TextFile, old: string, fresh: string): Replacement {
  const inserted = withEnding(fresh, lineEnding);
  const exact = replaceAll(text, old, inserted);
  if (exact.found > 0) return exact;
  const other = withEnding(old, lineEnding);
  return other === old ? exact : replaceAll(text, other, inserted);
}

function replaceAll(text: string, old: string, fresh: string): Replacement {
  const pieces = text.split(old);
  const found = pieces.length - 1;
  // "aa" is in "aaa" twice, though only one of the two can be replaced.
  const isAmbiguous = found > 0 && text.indexOf(old, text.indexOf(old) + 1) >= 0;
  return { text: pieces.join(fresh), found, isAmbiguous };
}

function withEnding(text: string, lineEnding: string): string {
  return text.replace(/\r?\n/g, lineEnding);
}

/**
 * The last edits of each file by each session, as digests before and after. A person who approves two edits of one file
 * saw the same version twice, so the first edit must not make the second one fail. A change by anyone else must.
 */
const edits = new Map<string, readonly (readonly [before: string, after: string])[]>();
