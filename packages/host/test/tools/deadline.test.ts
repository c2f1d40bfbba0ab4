import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { FILE_TOOL_TIMEOUT_MS } from '../../src/workspace/tools/host-tool.js';
import { existingFile, replaceFile } from '../../src/workspace/tools/text-files.js';
import { temporaryFolder } from './tool-box.js';

let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => remove());

describe('the tools of the host', () => {
  it('that touch files have a time to end; a disk that does not answer keeps no turn for ever', () => {
    const limits = Object.fromEntries(builtinTools().map(({ definition, timeoutMs }) => [definition.name, timeoutMs]));
    expect(limits).toEqual({
      list_files: FILE_TOOL_TIMEOUT_MS,
      find_files: FILE_TOOL_TIMEOUT_MS,
      read_file: FILE_TOOL_TIMEOUT_MS,
      search_files: FILE_TOOL_TIMEOUT_MS,
      write_file: FILE_TOOL_TIMEOUT_MS,
      edit_file: FILE_TOOL_TIMEOUT_MS,
      apply_patch: FILE_TOOL_TIMEOUT_MS,
      // These two watch their program themselves.
      git_status: undefined,
      shell: undefined,
      background_list: undefined,
      background_read: undefined,
      background_stop: undefined,
      web_fetch: 20_000,
      todo_list: undefined,
      // A person may take as long as they like.
      ask_user: undefined,
      // A worker takes as long as its calls do.
      task: undefined,
    });
  });

  it('ask before they change anything, and offer to be allowed for the session', () => {
    const input = {
      path: 'a',
      content: 'b',
      oldText: 'a',
      newText: 'b',
      patch: 'x',
      command: 'ls',
      question: '?',
      text: 'a',
      pattern: 'a',
    };
    const asking = builtinTools().flatMap((tool) => {
      const confirmation = tool.confirmation?.(input);
      return confirmation ? [[tool.definition.name, confirmation.options?.map(({ id }) => id)]] : [];
    });
    const options = ['approve', 'allow-session', 'deny'];
    expect(asking).toEqual([
      ['write_file', options],
      ['edit_file', options],
      ['apply_patch', options],
      ['shell', options],
    ]);
    const readOnly = builtinTools().filter(({ definition }) => definition.annotations?.readOnlyHint);
    expect(readOnly.map(({ definition }) => definition.name)).not.toContain('shell');
    // It ends what the agent has started itself.
    const unasked = ['background_stop'];
    expect(readOnly).toHaveLength(builtinTools().length - asking.length - unasked.length);
  });
});

describe('a file that is to be replaced', () => {
  it('stays as it was when the call is over before it could be', async () => {
    await mkdir(path.join(folder, 'sub'));
    const real = path.join(folder, 'sub', 'a.txt');
    await writeFile(real, 'old');
    const target = { real, shown: 'sub/a.txt' };
    const before = await existingFile(target);
    const signal = AbortSignal.abort(new Error('over'));
    await expect(replaceFile(target, { content: Buffer.from('new'), before, signal })).rejects.toThrow('over');
    expect(await readFile(real, 'utf8')).toBe('old');
    expect(await readdir(path.dirname(real))).toEqual(['a.txt']);
  });
});
