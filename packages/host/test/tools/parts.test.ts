import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ALLOW_IN_SESSION } from '@atrium/core/contracts/tool.js';
import { killOnExit } from '@atrium/core/util/processes.js';
import { throttle } from '@atrium/core/util/scheduling.js';
import { type Path, problemOf, type Shape } from '@atrium/core/util/shape.js';
import { Tail } from '@atrium/core/util/streams.js';
import { count, shorten, sizeText } from '@atrium/core/util/text.js';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { hostTool } from '../../src/workspace/tools/host-tool.js';
import { ManualClock } from '../support/manual-clock.js';
import { use } from './tool-box.js';

describe('the built-in tools', () => {
  const INPUT = {
    url: 'https://page.test/',
    patch: '*** Begin Patch\n*** Delete File: old.ts\n*** End Patch',
    id: 'b1',
    ...{ command: 'ls', path: 'src', text: 'TODO', pattern: '*.ts', content: '', oldText: 'a', newText: 'b' },
    ...{ question: 'Which?', items: ['sweep'], title: 'Look around', prompt: 'What is there?' },
  };

  it('describe themselves; only those that change something ask a person', () => {
    const tools = builtinTools();
    const names = tools.map(({ definition }) => definition.name);
    const changing = ['write_file', 'edit_file', 'apply_patch', 'shell'];
    expect(names).toEqual([
      ...['list_files', 'find_files', 'read_file', 'search_files', 'write_file', 'edit_file', 'apply_patch'],
      ...['git_status', 'shell', 'background_list', 'background_read', 'background_stop', 'web_fetch'],
      ...['todo_list', 'ask_user', 'task'],
    ]);
    expect(names.filter((_, index) => tools[index]?.confirmation?.(INPUT))).toEqual([...changing, 'web_fetch']);
    for (const { definition } of tools) {
      expect(definition.inputSchema?.type).toBe('object');
      expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
      expect(definition.annotations?.readOnlyHint).toBe(![...changing, 'background_stop'].includes(definition.name));
    }
  });

  it('can all be allowed for the session, where they ask, but for pages: each host is asked for', () => {
    for (const tool of builtinTools().filter(({ definition }) => definition.name !== 'web_fetch')) {
      const options = tool.confirmation?.(INPUT)?.options;
      if (options) expect(options.map(({ id }) => id)).toEqual(['approve', ALLOW_IN_SESSION, 'deny']);
    }
  });

  it('say what they are about to do', () => {
    expect(builtinTools().map((tool) => tool.invocationMessage(INPUT))).toEqual([
      ...['List src', 'Find *.ts', 'Read src', 'Search for "TODO"', 'Write src', 'Edit src'],
      ...['Change old.ts', 'Check the git status', 'Run ls', 'List background commands', 'Read the output of b1'],
      ...['Stop b1', 'Fetch https://page.test/', 'Update the to-do list', 'Ask "Which?"', 'Give a task: Look around'],
    ]);
  });

  it('throw only for mistakes of ours', async () => {
    const broken = hostTool({
      name: 'broken',
      displayName: 'Broken',
      description: '',
      annotations: {},
      properties: {},
      required: [],
      invocation: () => 'Break',
      run: () => Promise.reject(new TypeError('a bug')),
    });
    await expect(use(broken, {}, undefined)).rejects.toThrow('a bug');
  });
});

describe('a shape', () => {
  const SHAPE: Shape = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, sizes: { type: 'array', items: { type: 'integer', minimum: 2 } } },
  };

  it.each<[unknown, Path, string]>([
    [{ name: 'x', sizes: [2, 1] }, ['sizes', 1], 'must be a whole number of at least 2, but is 1'],
    [{ name: 'x', sizes: [2.5] }, ['sizes', 0], 'must be a whole number of at least 2, but is 2.5'],
    [{ name: 'x', sizes: {} }, ['sizes'], 'must be a list, but is an object'],
    [{ name: undefined }, [], 'must have "name" (a string)'],
    [{ name: 'x', nam: 1 }, [], 'has the unknown key "nam"; known are: name, sizes'],
  ])('says what is wrong with %j', (value, path, problem) => {
    expect(problemOf(SHAPE, value)).toEqual({ path, problem });
  });

  it('is content with what fits', () => {
    expect(problemOf(SHAPE, { name: '', sizes: [] })).toBeUndefined();
    expect(problemOf(SHAPE, { name: '', sizes: undefined })).toBeUndefined();
  });

  it('shows a long value in short', () => {
    expect(problemOf({ type: 'integer', maximum: 3 }, 3)).toBeUndefined();
    expect(problemOf({ type: 'integer', maximum: 3 }, 4)?.problem).toBe(
      'must be a whole number of at most 3, but is 4',
    );
    expect(problemOf({ type: 'integer', minimum: 1, maximum: 3 }, 0)?.problem).toMatch(/ from 1 to 3, but is 0$/);
    expect(problemOf({ type: 'boolean' }, 'x'.repeat(99))?.problem).toMatch(/^must be true or false, but is "x{39}…$/);
  });
});

describe('the end of a text', () => {
  it('is kept in bounds, whole characters only', () => {
    const tail = new Tail(4);
    for (const piece of ['a', 'b', 'é', 'é', 'x']) tail.push(piece);
    expect(tail.text()).toBe('éx');
    expect(tail.text(1)).toBe('x');
    expect(tail.dropped).toBe(3);
  });

  it('is all of it while it fits', () => {
    const tail = new Tail(4);
    expect(tail.text()).toBe('');
    tail.push('abcd');
    expect([tail.text(), tail.dropped]).toEqual(['abcd', 0]);
  });
});

describe('a throttle', () => {
  it('acts at once, then once per interval, and never forgets the last request', async () => {
    const clock = new ManualClock();
    let acts = 0;
    const { request, stop } = throttle(clock, 100, () => {
      acts += 1;
    });
    for (let index = 0; index < 5; index += 1) request();
    expect(acts).toBe(1);
    await clock.advance(100);
    expect(acts).toBe(2);
    await clock.advance(100);
    expect(acts).toBe(2);
    request();
    expect(acts).toBe(3);
    request();
    stop();
    await clock.advance(500);
    expect([acts, clock.pending]).toEqual([3, 0]);
  });
});

describe('groups of processes', () => {
  it('leave the exit of this process alone once all have ended', async () => {
    const before = process.listenerCount('exit');
    const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    const forget = killOnExit(child.pid ?? 0);
    expect(process.listenerCount('exit')).toBe(before + 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    forget();
    expect(process.listenerCount('exit')).toBe(before);
  });
});

describe('texts for people', () => {
  it('have sizes, counts and bounds', () => {
    expect([0, 1, 1023, 1024, 1536, 200 * 1024, 2 ** 20, 2 ** 40].map(sizeText)).toEqual([
      '0 bytes',
      '1 byte',
      '1023 bytes',
      '1 KiB',
      '1.5 KiB',
      '200 KiB',
      '1 MiB',
      '1 TiB',
    ]);
    expect([count(1, 'file'), count(0, 'file'), count(2, 'entry', 'entries')]).toEqual([
      '1 file',
      '0 files',
      '2 entries',
    ]);
    expect([shorten(' a\n b ', 9), shorten('abcdef', 4)]).toEqual(['a b', 'abc…']);
  });
});
