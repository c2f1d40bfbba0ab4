/** `write_file`: makes a file, or replaces all of one, once a person has agreed. */
import { comingEdit, diffText, doneEdit, type TextChange } from './file-edit.js';
import { hostTool } from './host-tool.js';
import { replaceFile } from './replace-file.js';
import { existingFile, type FileVersion, readText } from './text-file.js';
import { ALLOW_IN_SESSION, type PreviewContext, type ToolConfirmation } from './tool.js';
import { resolveTarget } from './write-target.js';

interface Input {
  readonly path: string;
  readonly content: string;
}

export const writeFileTool = hostTool({
  name: 'write_file',
  displayName: 'Write file',
  description:
    'Makes a text file with this content, and the folders it is in; replaces all of a file that exists. ' +
    'A person is shown the change first. Use edit_file to change a part of a file.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  properties: {
    path: { type: 'string', minLength: 1, description: "The file, relative to the session's folder." },
    content: { type: 'string', description: 'All of its content.' },
  },
  required: ['path', 'content'],
  invocation: ({ path }) => `Write ${path}`,
  confirmation: ({ path }) => writeConfirmation(`Write ${path}?`),
  preview: async (input, context) => [comingEdit((await plan(input, context)).change)],
  async run(input, context) {
    const { change, version } = await plan(input, context);
    await replaceFile(change.file, Buffer.from(change.after), version);
    const { shown } = change.file;
    const text = version ? `Replaced ${shown}: ${diffText(change)}.` : `Made ${shown}: ${diffText(change)}.`;
    return {
      success: true,
      pastTenseMessage: `Wrote ${shown}`,
      content: [{ type: 'text', text }, ...doneEdit(change)],
    };
  },
});

async function plan({ path, content }: Input, { cwd, signal }: PreviewContext) {
  const file = await resolveTarget(cwd, path);
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
