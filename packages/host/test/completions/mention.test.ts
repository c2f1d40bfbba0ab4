/** What is being typed, how names are ranked, and which names a source declares. */
import { describe, expect, it } from 'vitest';
import { best, mentionAt } from '../../src/workspace/completions/completions.js';
import { declarationsIn, isCode } from '../../src/workspace/completions/project-index.js';

describe('a mention', () => {
  it.each([
    ['look at @src/par|ser.ts please', { trigger: '@', query: 'src/par', start: 8, end: 22 }],
    ['@|', { trigger: '@', query: '', start: 0, end: 1 }],
    ['(#open|', { trigger: '#', query: 'open', start: 1, end: 6 }],
    ['/dep|loy now', { trigger: '/', query: 'dep', start: 0, end: 7 }],
    ['😀 @a|', { trigger: '@', query: 'a', start: 3, end: 5 }],
  ])('[AHP-058] is found in %s', (marked, expected) => {
    const offset = marked.indexOf('|');
    expect(mentionAt(marked.replace('|', ''), offset)).toEqual(expected);
  });

  it.each(['plain |', 'someone@exam|ple.com', 'say /dep|', '@file |', 'a/b|'])('is not found in %s', (marked) => {
    expect(mentionAt(marked.replace('|', ''), marked.indexOf('|'))).toBeUndefined();
  });
});

describe('ranking', () => {
  it('[AHP-057] puts names that begin with what was typed first, scattered letters last', () => {
    const names = ['lib/other/server.ts', 'src/server.ts', 'my-server.ts', 'server/readme.md', 'sxexrxvxexr', 'none'];
    expect(best(names, (name) => name, 'server', 10)).toEqual([
      'src/server.ts',
      'lib/other/server.ts',
      'my-server.ts',
      'server/readme.md',
      'sxexrxvxexr',
    ]);
    expect(best(names, (name) => name, 'server', 2)).toHaveLength(2);
  });

  it('finds the same as if all were sorted, without sorting all', () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `src/${(index * 7_919) % 3_000}/file-${index % 97}.ts`);
    const all = best(names, (name) => name, 'file-1', names.length);
    expect(best(names, (name) => name, 'file-1', 50)).toEqual(all.slice(0, 50));
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('declarations', () => {
  it('are found by the words in front of them, in several languages', () => {
    const text = [
      'export class Parser {',
      '  function inner() {',
      '    const local = 1;',
      'pub fn read_all() {}',
      'def handle(request):',
      '// class Commented',
      'export const LIMIT = 3;',
    ].join('\n');
    expect([...declarationsIn(text)].map(({ name, line }) => `${name}:${line}`)).toEqual([
      'Parser:0',
      'inner:1',
      'read_all:3',
      'handle:4',
      'LIMIT:6',
    ]);
    expect([isCode('a/b.ts'), isCode('notes.md')]).toEqual([true, false]);
  });
});
