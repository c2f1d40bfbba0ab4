/** `edit_file`: replaces an exact piece of a text file, once a person has agreed. */
import { comingEdit, diffText, doneEdit, type TextChange } from './file-edit.js';
import { FILE_TOOL_TIMEOUT_MS, hostTool, ToolFailure } from './host-tool.js';
import { oneAtATime } from './one-at-a-time.js';
import { resolveInside } from './paths.js';
import { replaceFile } from './replace-file.js';
import { replaceText } from './replace-text.js';
import { count, sizeText } from './text.js';
import { EDIT_MAX_BYTES, existingFile, readText, type TextFile } from './text-file.js';
import type { PreviewContext, ToolOutput } from './tool.js';
import { writeConfirmation } from './write-file.js';
import { resolveTarget } from './write-target.js';

interface Input {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly all?: boolean;
}

export const editFileTool = hostTool({
  name: 'edit_file',
  displayName: 'Edit file',
  description:
    'Replaces a piece of a text file. "oldText" must be there exactly as given, spaces included, and only once, unless ' +
    '"all" is true. Line endings stay as they are in the file. A person is shown the change first.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  timeoutMs: FILE_TOOL_TIMEOUT_MS,
  properties: {
    path: { type: 'string', minLength: 1, description: "The file, relative to the session's folder." },
    oldText: { type: 'string', minLength: 1, description: 'What to replace, with enough around it to be unique.' },
    newText: { type: 'string', description: 'What stands there afterwards. Empty to remove.' },
    all: { type: 'boolean', description: 'Replaces every occurrence. Default: false.' },
  },
  required: ['path', 'oldText', 'newText'],
  invocation: ({ path }) => `Edit ${path}`,
  confirmation: ({ path }) => writeConfirmation(`Edit ${path}?`),
  preview: async (input, context) => ({ edits: [comingEdit((await plan(input, context)).change)] }),
  async run(input, context) {
    const { real } = await resolveTarget(context.cwd, input.path);
    return oneAtATime(real, () => edit(input, context));
  },
});

async function edit(input: Input, context: PreviewContext): Promise<ToolOutput> {
  const { change, version, replaced } = await plan(input, context);
  await replaceFile(change.file, { content: Buffer.from(change.after), before: version, signal: context.signal });
  const { shown } = change.file;
  const text = `Edited ${shown}: ${count(replaced, 'occurrence')} replaced, ${diffText(change)}.`;
  return {
    success: true,
    pastTenseMessage: `Edited ${shown}`,
    content: [{ type: 'text', text }, ...doneEdit(change)],
  };
}

async function plan(input: Input, { cwd, signal }: PreviewContext) {
  // Says so when it is missing; the target then has the rules for writing.
  await resolveInside(cwd, input.path);
  const file = await resolveTarget(cwd, input.path);
  const version = await existingFile(file);
  if (!version) throw new ToolFailure('NOT_FOUND', `There is no "${input.path}" in the session's folder.`);
  if (version.size > EDIT_MAX_BYTES) {
    throw new ToolFailure('TOO_LARGE', `${file.shown} is larger than ${sizeText(EDIT_MAX_BYTES)}.`);
  }
  const old = await readText(file, version);
  if (!old) throw new ToolFailure('BINARY', `${file.shown} is not text in UTF-8; it cannot be edited.`);
  const { text, replaced } = edited(old, input, file.shown);
  signal.throwIfAborted();
  const change: TextChange = { file, before: { text: old.bom + old.text }, after: old.bom + text };
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
