import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';

async function run(cwd: string, name: string, input: object) {
  const tool = builtinTools().find(({ definition }) => definition.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool.run(input, { cwd, signal: new AbortController().signal, progress: () => {} });
}

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'atrium-no-go-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

describe("the host's own data", () => {
  it.each(['.', 'data'])('is closed to tools when it is at %s', async (place) => {
    const home = await folder();
    const data = path.join(home, place);
    await mkdir(data, { recursive: true });
    for (const name of ['atrium.lock', 'atrium.owner']) await writeFile(path.join(data, name), '');
    await writeFile(path.join(data, 'connection-token'), 'very-secret');
    const token = path.join(place, 'connection-token');
    const outputs = [
      await run(home, 'read_file', { path: token }),
      await run(home, 'list_files', { path: place }),
      await run(home, 'search_files', { text: 'secret' }),
      await run(home, 'find_files', { pattern: '**/connection-token' }),
      await run(home, 'write_file', { path: token, content: 'mine' }),
    ];
    expect(JSON.stringify(outputs)).not.toContain('very-secret');
    expect(outputs[0]).toMatchObject({ success: false, error: { code: 'NO_GO' } });
    expect(outputs[4]).toMatchObject({ success: false });
  });

  it.each([
    ['above the folder of the session', 'data/instances'],
    ['at the folder of the session', 'data'],
    ['in the folder of the session', '.'],
  ])('is closed however deep it is, when it begins %s', async (_where, cwd) => {
    const home = await folder();
    const deep = path.join(home, 'data', 'instances', 'deep');
    await mkdir(deep, { recursive: true });
    for (const name of ['atrium.lock', 'atrium.db']) await writeFile(path.join(home, 'data', name), '');
    await writeFile(path.join(deep, 'x.json'), 'very-secret');
    const session = path.resolve(home, cwd);
    const file = path.relative(session, path.join(deep, 'x.json'));
    const outputs = [
      await run(session, 'read_file', { path: file }),
      await run(session, 'edit_file', { path: file, oldText: 'very-secret', newText: 'x' }),
      await run(session, 'write_file', { path: file, content: 'mine' }),
      await run(session, 'list_files', { path: path.dirname(file) }),
      await run(session, 'search_files', { text: 'secret', path: path.dirname(file) }),
    ];
    expect(outputs.map(({ success, error }) => [success, error?.code])).toEqual(outputs.map(() => [false, 'NO_GO']));
  });
});

it('a project with a file of the same name as the lock of the host stays open', async () => {
  const home = await folder();
  await writeFile(path.join(home, 'atrium.lock'), 'mine');
  expect(await run(home, 'read_file', { path: 'atrium.lock' })).toMatchObject({ success: true });
  expect(await run(home, 'write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ success: true });
});

it.skipIf(process.platform !== 'linux')(
  "files of the kernel are not read, though the session's folder is /",
  async () => {
    for (const file of ['proc/kmsg', 'dev/zero', 'sys/kernel/notes']) {
      const output = await run('/', 'read_file', { path: file });
      expect(output).toMatchObject({ success: false });
    }
  },
);
