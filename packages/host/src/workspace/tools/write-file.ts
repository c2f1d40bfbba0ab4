/** `write_file`: creates a file, or replaces all of one, once a person has agreed. */

import {
  ALLOW_IN_SESSION,
  type PreviewContext,
  type ToolConfirmation,
  type ToolContext,
  type ToolOutput,
} from '@atrium/core/contracts/tool.js';
import { comingEdit, diffText, doneEdit, type TextChange } from '@atrium/core/util/file-edit.js';
import { oneAtATime } from '@atrium/core/util/scheduling.js';
import { FILE_TOOL_TIMEOUT_MS, foldersOf, hostTool } from './host-tool.js';
import {
  changedMeanwhile,
  existingFile,
  type FileVersion,
  isSameVersion,
  readText,
  replaceFile,
  resolveTarget,
} from './text-files.js';

/** The version that existed when the person was asked. */
interface Basis {
  readonly version: FileVersion | undefined;
}

interface Input {
  readonly path: string;
  readonly content: string;
}

export const writeFileTool = hostTool({
  name: 'write_file',
  displayName: 'Write file',
  description:
    'Writes a text file: creates it and its folders, or replaces all of an existing file. A person sees the change first. ' +
    'Use edit_file to change part of a file.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: {
    path: { type: 'string', minLength: 1, description: "The file, relative to the session's folder." },
    content: { type: 'string', description: 'The whole content of the file.' },
  },
  required: ['path', 'content'],
  invocation: ({ path }) => `Write ${path}`,
  confirmation: ({ path }) => writeConfirmation(`Write ${path}?`),
  async preview(input, context) {
    const { change, version } = await plan(input, context);
    return { edits: [comingEdit(change)], basis: { version } satisfies Basis };
  },
  async run(input, context) {
    const { real } = await resolveTarget(foldersOf(context), input.path);
    return oneAtATime(real, () => write(input, context));
  },
});

async function write(input: Input, context: ToolContext): Promise<ToolOutput> {
  const { change, version } = await plan(input, context);
  // The whole old file is lost, so it must be the version that the person saw.
  const shownBefore = context.basis as Basis | undefined;
  if (shownBefore && !isSameVersion(shownBefore.version, version)) throw changedMeanwhile(change.file);
  await replaceFile(change.file, { content: Buffer.from(change.after), before: version, signal: context.signal });
  const { shown } = change.file;
  const text = version ? `Replaced ${shown}: ${diffText(change)}.` : `Made ${shown}: ${diffText(change)}.`;
  return {
    success: true,
    pastTenseMessage: `Wrote ${shown}`,
    content: [{ type: 'text', text }, ...doneEdit(change)],
  };
}

async function plan({ path, content }: Input, context: PreviewContext) {
  const { signal } = context;
  const file = await resolveTarget(foldersOf(context), path);
  const version = await existingFile(file);
  const change: TextChange = { file, ...(version && { before: await oldText(file, version) }), after: content };
  signal.throwIfAborted();
  return { change, version };
}

async function oldText(file: TextChange['file'], version: FileVersion): Promise<{ text: string | undefined }> {
  const old = await readText(file, version);
  return { text: old && old.bom + old.text };
}

/** The question before a file is changed. */
export function writeConfirmation(title: string): ToolConfirmation {
  return {
    title,
    options: [
      { id: 'approve', label: 'Allow', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: 'Allow, also from now on in this session', kind: 'approve' },
      { id: 'deny', label: 'Do not change it', kind: 'deny' },
    ],
  };
}
