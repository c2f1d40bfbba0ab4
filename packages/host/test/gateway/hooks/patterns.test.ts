import vm from 'node:vm';
import { CUTS_MAX, MATCH_INPUT_MAX_CHARACTERS, Pattern, RUNS_MAX, tryPatterns } from '@atrium/core/util/patterns.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hostNameOf, PATHS_MAX, pathArguments } from '../../../src/gateway/hooks/pre-tool-rules.js';

const BOMB = '(a+)+$';
const FUSE = `${'a'.repeat(40)}b`;

/** How often patterns were tried behind the fence since it was last asked. Time on a busy machine proves nothing. */
function runsSince(): () => number {
  const run = vi.spyOn(vm.Script.prototype, 'runInContext');
  onTestFinished(() => run.mockRestore());
  return () => {
    const { length } = run.mock.calls;
    run.mockClear();
    return length;
  };
}

function results(sources: readonly string[], input: string) {
  return tryPatterns(
    sources.map((source) => new Pattern(source)),
    input,
  );
}

describe('patterns within a budget', () => {
  it('[GW-147] [REL-045] are cut off when they would run for ever, and the others are tried all the same', async () => {
    // Left to itself it would run for hours. On a machine that gives all time to others, what is left may be cut with it.
    await expect
      .poll(() => results(['b$', BOMB, '^a+b', '(x|y)+'], FUSE))
      .toEqual(['match', 'cut', 'match', 'no-match']);
  });

  it('[GW-147] that run for ever cost a few attempts with each call, however many they are, and in the end nothing', () => {
    const bombs = Array.from({ length: 50 }, (_, index) => new Pattern(`(a+)+${index}$`));
    const runs = runsSince();
    for (let call = 0; call < 3; call++) {
      expect(new Set(tryPatterns(bombs, FUSE))).toEqual(new Set(['cut']));
      expect(runs()).toBeLessThanOrEqual(RUNS_MAX);
    }
    const few = bombs.slice(0, 5);
    for (let call = 0; call < few.length * CUTS_MAX; call++) tryPatterns(few, FUSE);
    runs();
    expect(tryPatterns(few, FUSE)).toEqual(few.map(() => 'cut'));
    expect(runs()).toBe(0);
  });

  it('[GW-148] one that was cut again and again is not tried any more, and counts as cut: it goes on guarding', () => {
    const pattern = new Pattern(BOMB);
    for (let time = 0; time < CUTS_MAX; time++) expect(tryPatterns([pattern], FUSE)).toEqual(['cut']);
    expect(tryPatterns([pattern], 'harmless')).toEqual(['cut']);
  });

  it('one that was cut once is tried again, and a good end makes it forget', () => {
    const pattern = new Pattern(BOMB);
    for (let time = 0; time < CUTS_MAX * 2; time++) {
      expect(tryPatterns([pattern], FUSE)).toEqual(['cut']);
      expect(tryPatterns([pattern], 'aaa')).toEqual(['match']);
    }
  });

  it('give the same results as plain expressions, time after time', () => {
    const sources = [
      'git push',
      'rm -rf|sudo',
      'x{2,}',
      '^\\{"a":\\(',
      '[*+]',
      'a.c',
      '\\bpush\\b',
      '(?=p)push',
      '\\*',
      'ü',
    ];
    const inputs = ['{"command":"git push"}', '{"a":(}', 'xx', 'abc *', 'sudo', '', '{"name":"über"}'];
    for (let round = 0; round < 20; round++)
      for (const input of inputs)
        expect(results(sources, input)).toEqual(
          sources.map((source) => (new RegExp(source).test(input) ? 'match' : 'no-match')),
        );
  });

  it('are not fooled by a busy machine', () => {
    const patterns = Array.from({ length: 20 }, (_, index) => new Pattern(`word${index}.*(end|stop)`));
    const input = JSON.stringify({ text: 'some words that end here '.repeat(20) });
    for (let call = 0; call < 300; call++) expect(tryPatterns(patterns, input)).not.toContain('cut');
  });

  it('do not look at what is too long', () => {
    const text = 'x'.repeat(MATCH_INPUT_MAX_CHARACTERS);
    expect(results(['x$', 'y+'], text)).toEqual(['match', 'no-match']);
    expect(results(['x$', 'y+'], `${text}x`)).toEqual(['cut', 'cut']);
  });

  it('that are plain but long are fenced in on a long text', () => {
    const runs = runsSince();
    results([`${'.'.repeat(998)}\\n`], 'x'.repeat(MATCH_INPUT_MAX_CHARACTERS));
    expect(runs()).toBeGreaterThan(0);
  });
});

describe('names of tools', () => {
  it('[GW-145] are one tool where agents have other names for it, and compare as they are written', () => {
    for (const [alias, name] of [
      ['bash', 'shell'],
      ['Bash', 'shell'],
      ['Read', 'read_file'],
      ['Edit', 'edit_file'],
    ])
      expect(hostNameOf(alias ?? '')).toBe(name);
    for (const name of ['shell', 'BASH', 'mcp_tool', 'constructor']) expect(hostNameOf(name)).toBe(name);
  });
});

describe('arguments that are paths', () => {
  it('[GW-150] are found by the last word of their key, wherever they stand', () => {
    const args = {
      path: 'a',
      file_path: 'b',
      filePath: 'c',
      old_file: 'd',
      directory: 'e',
      paths: ['f', { fileName: 'g' }],
      more: [{ dir: 'h', file_name: 'i', CWD: 'j' }],
      profile: 'not this',
      pathology: 'nor this',
      content: 'nor/this.sql',
    };
    expect(pathArguments(args, undefined)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']);
  });

  it('[GW-150] are seen without detours, and from the folder of the session', () => {
    expect(pathArguments({ path: './db/../db/x.sql' }, undefined)).toEqual(['db/x.sql']);
    expect(pathArguments({ path: 'db\\x.sql' }, undefined)).toEqual(['db/x.sql']);
    expect(pathArguments({ path: '/work/it/db/x.sql' }, '/work/it')).toEqual(['/work/it/db/x.sql', 'db/x.sql']);
    expect(pathArguments({ path: '/work/items/x.sql' }, '/work/it')).toEqual(['/work/items/x.sql']);
    expect(pathArguments({ paths: Array.from({ length: PATHS_MAX + 1 }, String) }, undefined)).toBeUndefined();
  });
});
