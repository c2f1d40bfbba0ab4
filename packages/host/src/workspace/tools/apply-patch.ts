/** `apply_patch`: changes several files at once, all or none, in the patch format that some models are trained on. */
import { createHash } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type PreviewContext, type ToolContext, ToolFailure, type ToolOutput } from '@atrium/core/contracts/tool.js';
import { comingEdit, diffText, doneEdit, type TextChange } from '@atrium/core/util/file-edit.js';
import type { InsidePath } from '@atrium/core/util/paths.js';
import { oneAtATime } from '@atrium/core/util/scheduling.js';
import { count, shorten, sizeText } from '@atrium/core/util/text.js';
import type { FileEdit, ToolResultContent } from '@atrium/protocol/ahp-1';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool } from './host-tool.js';
import { applyHunks, type PatchedFile, parsePatch } from './patch-format.js';
import {
  changedMeanwhile,
  EDIT_MAX_BYTES,
  existingFile,
  type FileVersion,
  isSameVersion,
  PERMISSION_BITS,
  readText,
  replaceFile,
  resolveTarget,
  versionOf,
} from './text-files.js';
import { writeConfirmation } from './write-file.js';

/** How many files the title of a question names. */
const NAMED_MAX = 3;
/** Patches of one host run one after another, because they touch many files. */
const LANE = 'apply_patch';

export const applyPatchTool = hostTool({
  name: 'apply_patch',
  displayName: 'Apply patch',
  description:
    'Changes several text files at once: all of them, or none. The patch starts with "*** Begin Patch" and ends with ' +
    '"*** End Patch". In between, for each file: "*** Add File: <path>" and its lines, each with "+" in front; or "*** Delete ' +
    'File: <path>"; or "*** Update File: <path>", optionally "*** Move to: <path>", and its changes. A change starts with "@@" ' +
    'and, where that helps to find the place, an earlier line such as the head of the function; then come unchanged lines with ' +
    '" " in front, removed lines with "-", and added lines with "+". Give three unchanged lines before and after each change. ' +
    'A person sees the changes first.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: { patch: { type: 'string', minLength: 1, description: 'The whole patch.' } },
  required: ['patch'],
  invocation: ({ patch }) => `Change ${namesIn(patch)}`,
  confirmation: ({ patch }) => writeConfirmation(`Change ${namesIn(patch)}?`),
  async preview({ patch }, context) {
    const steps = await plan(patch, context);
    return { edits: steps.map(({ edit }) => edit), basis: digestOf(steps) };
  },
  run: ({ patch }, context) => oneAtATime(LANE, () => apply(patch, context)),
});

/** One file of the patch, and its outcome. */
interface Step {
  readonly change: TextChange;
  readonly version: FileVersion | undefined;
  /** The file to remove: the file itself, or the old place of one that moves. */
  readonly removed?: { readonly file: InsidePath; readonly version: FileVersion; readonly text: string };
  readonly isDeletion: boolean;
  readonly edit: FileEdit;
  readonly words: string;
}

async function apply(patch: string, context: ToolContext): Promise<ToolOutput> {
  const steps = await plan(patch, context);
  if (context.basis !== undefined && context.basis !== digestOf(steps)) {
    const advice = 'Read them again, then repeat the change.';
    throw new ToolFailure('CHANGED', `A file of the patch was changed by someone else meanwhile. ${advice}`);
  }
  const done: Begun[] = [];
  try {
    for (const step of steps) {
      context.signal.throwIfAborted();
      const begun: Begun = { step };
      done.push(begun);
      await perform(begun, context.signal);
    }
  } catch (error) {
    const stuck = await undo(done);
    if (stuck.length === 0) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const rest = `These could not be put back, look at them: ${stuck.join(', ')}.`;
    throw new ToolFailure('HALF_DONE', `${why} ${rest}`);
  }
  const content: ToolResultContent[] = steps.flatMap(doneContent);
  const text = steps.map(({ words }) => words).join('\n');
  return {
    success: true,
    pastTenseMessage: `Changed ${namesIn(patch)}`,
    content: [{ type: 'text', text }, ...content],
  };
}

/** How far a step came. Only its own changes are undone, never what someone else wrote meanwhile. */
interface Begun {
  readonly step: Step;
  /** The version of the file that this step left. */
  written?: FileVersion | undefined;
  isRemoved?: boolean;
}

async function perform(begun: Begun, signal: AbortSignal): Promise<void> {
  const { change, version, removed, isDeletion } = begun.step;
  if (!isDeletion) {
    await replaceFile(change.file, { content: Buffer.from(change.after), before: version, signal });
    begun.written = await versionOf(change.file.real);
    if (removed) {
      await keepMode(change.file, removed.version);
      begun.written = await versionOf(change.file.real);
    }
  }
  if (!removed) return;
  if (!isSameVersion(removed.version, await versionOf(removed.file.real))) throw changedMeanwhile(removed.file);
  await rm(removed.file.real);
  begun.isRemoved = true;
}

/** Keeps a file's mode when it moves, so that a script stays executable. */
async function keepMode({ real }: InsidePath, { mode }: FileVersion): Promise<void> {
  await chmod(real, Number(mode) & PERMISSION_BITS);
}

/** Restores files, the last one first. Returns those that it cannot restore. */
async function undo(done: readonly Begun[]): Promise<string[]> {
  const stuck: string[] = [];
  for (const { step, written, isRemoved } of done.toReversed()) {
    const { change, version, removed } = step;
    const { signal } = new AbortController();
    try {
      if (removed && isRemoved && !(await versionOf(removed.file.real))) {
        await replaceFile(removed.file, { content: Buffer.from(removed.text), before: undefined, signal });
        await keepMode(removed.file, removed.version);
      }
      if (!written) continue;
      const now = await versionOf(change.file.real);
      if (!now || !isSameVersion(now, written)) stuck.push(change.file.shown);
      else if (version)
        await replaceFile(change.file, { content: Buffer.from(change.before?.text ?? ''), before: now, signal });
      else await rm(change.file.real, { force: true });
    } catch {
      stuck.push(change.file.shown);
    }
  }
  return stuck;
}

async function plan(patch: string, context: PreviewContext): Promise<Step[]> {
  const steps: Step[] = [];
  const touched = new Set<string>();
  for (const file of parsePatch(patch)) {
    const step = await stepFor(file, context);
    const places = [step.change.file, ...(step.removed ? [step.removed.file] : [])];
    for (const real of new Set(places.map((place) => place.real))) {
      if (touched.has(real)) throw new ToolFailure('BAD_PATCH', `${step.change.file.shown} is in the patch twice.`);
      touched.add(real);
    }
    steps.push(step);
    context.signal.throwIfAborted();
  }
  return steps;
}

function stepFor(file: PatchedFile, context: PreviewContext): Promise<Step> {
  if (file.kind === 'add') return addition(file.path, file.text, context);
  return file.kind === 'delete' ? deletion(file.path, context) : update(file, context);
}

async function addition(path: string, text: string, context: PreviewContext): Promise<Step> {
  const file = await freeTarget(path, context);
  const change = { file, after: text };
  const words = `Made ${file.shown}: ${diffText(change)}.`;
  return { change, version: undefined, isDeletion: false, edit: comingEdit(change), words };
}

async function deletion(path: string, context: PreviewContext): Promise<Step> {
  const old = await present(path, context);
  const { file } = old;
  const uri = pathToFileURL(file.real).href;
  const edit: FileEdit = { before: { uri, content: { uri } } };
  const change = { file, before: { text: old.text }, after: '' };
  return { change, version: old.version, removed: old, isDeletion: true, edit, words: `Deleted ${file.shown}.` };
}

async function update(file: Extract<PatchedFile, { kind: 'update' }>, context: PreviewContext): Promise<Step> {
  const old = await present(file.path, context);
  const after = applyHunks(old.text, file.hunks, old.file.shown);
  if (file.moveTo === undefined) {
    const change = { file: old.file, before: { text: old.text }, after };
    const words = `Changed ${old.file.shown}: ${diffText(change)}.`;
    return { change, version: old.version, isDeletion: false, edit: comingEdit(change), words };
  }
  const target = await freeTarget(file.moveTo, context);
  const change = { file: target, before: { text: old.text }, after };
  const uri = pathToFileURL(old.file.real).href;
  const edit = { ...comingEdit(change), before: { uri, content: { uri } } };
  const words = `Moved ${old.file.shown} to ${target.shown}: ${diffText(change)}.`;
  return { change, version: undefined, removed: old, isDeletion: false, edit, words };
}

/** A path where no file exists yet. */
async function freeTarget(path: string, context: PreviewContext): Promise<InsidePath> {
  const file = await resolveTarget(foldersOf(context), path);
  if (await existingFile(file)) {
    throw new ToolFailure('EXISTS', `${file.shown} is there already. Update it instead. Nothing was changed.`);
  }
  return file;
}

async function present(path: string, context: PreviewContext) {
  const file = await resolveTarget(foldersOf(context), path);
  const version = await existingFile(file);
  if (!version)
    throw new ToolFailure('NOT_FOUND', `There is no "${path}" in the session's folder. Nothing was changed.`);
  if (version.size > EDIT_MAX_BYTES)
    throw new ToolFailure(
      'TOO_LARGE',
      `${file.shown} is larger than ${sizeText(EDIT_MAX_BYTES)}. Nothing was changed.`,
    );
  const old = await readText(file, version);
  if (!old) throw new ToolFailure('BINARY', `${file.shown} is not text in UTF-8. Nothing was changed.`);
  return { file, version, text: old.bom + old.text };
}

/** Identifies what a person saw: which files, their content, and their new content. */
function digestOf(steps: readonly Step[]): string {
  const shown = steps.map(({ change, removed }) => [
    ...[change.file.real, change.before?.text ?? null, change.after, removed?.file.real ?? null],
  ]);
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64');
}

function doneContent({ change, removed, isDeletion, edit }: Step): ToolResultContent[] {
  const [made] = isDeletion ? [] : doneEdit(change);
  if (!isDeletion && !removed) return made ? [made] : [];
  const [old] = doneEdit({ file: removed?.file ?? change.file, before: { text: removed?.text }, after: '' });
  if (old?.type !== 'fileEdit' || !old.before) return made ? [made] : [];
  return [{ ...edit, type: 'fileEdit', before: old.before, ...(made?.type === 'fileEdit' && { after: made.after }) }];
}

function namesIn(patch: string): string {
  const names = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, name = '']) => name.trim());
  const shown = names.slice(0, NAMED_MAX).map((name) => shorten(name, 60));
  const rest = names.length - shown.length;
  if (names.length === 0) return 'files';
  return rest > 0 ? `${shown.join(', ')} and ${count(rest, 'more file')}` : shown.join(', ');
}
