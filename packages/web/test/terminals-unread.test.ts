/** What a terminal has written since the last look, and the colours that it takes from the page. */
import { expect, it } from 'vitest';
import { isDark } from '../src/terminals/colours.js';
import { UNREAD_MAX_CHARACTERS, UnreadOutput } from '../src/terminals/unread.js';

it('reads only what is new, and notices what was cleared or replaced', () => {
  const unread = new UnreadOutput();
  const part = (value: string) => ({ type: 'unclassified' as const, value });
  const command = (output: string) => ({
    ...{ type: 'command' as const, commandId: '1', commandLine: 'x', timestamp: 0, isComplete: false },
    output,
  });
  expect(unread.take([part('$ ')])).toEqual({ text: '$ ', isFresh: true });
  expect(unread.take([part('$ ls'), command('a\n')])).toEqual({ text: 'lsa\n', isFresh: false });
  expect(unread.take([part('$ ls'), command('a\nb\n')])).toEqual({ text: 'b\n', isFresh: false });
  expect(unread.take([part('$ ls'), command('a\nb\n')])).toEqual({ text: '', isFresh: false });
  expect(unread.take([part('new')])).toEqual({ text: 'new', isFresh: true });
  expect(unread.take([part('other text')])).toEqual({ text: 'other text', isFresh: true });
  expect(unread.take([])).toEqual({ text: '', isFresh: true });
  const much = unread.take([part('line\n'.repeat(UNREAD_MAX_CHARACTERS))]);
  expect(much.isFresh).toBe(true);
  expect(much.text.length).toBeLessThan(UNREAD_MAX_CHARACTERS);
  expect(much.text.startsWith('line\n')).toBe(true);
});

it('notices that old parts were dropped, also while a command has written nothing yet', () => {
  const unread = new UnreadOutput();
  const command = (commandId: string, output: string) => ({
    ...{ type: 'command' as const, commandLine: 'x', timestamp: 0, isComplete: false },
    ...{ commandId, output },
  });
  unread.take([command('1', 'one\n'), command('2', 'two\n'), command('3', '')]);
  expect(unread.take([command('3', 'three\n')])).toEqual({ text: 'three\n', isFresh: true });
  unread.take([command('3', 'three\n'), command('4', '')]);
  expect(unread.take([command('4', ''), command('5', 'five\n')])).toEqual({ text: 'five\n', isFresh: true });
  expect(unread.take([command('4', ''), command('5', 'five\nmore\n')])).toEqual({ text: 'more\n', isFresh: false });
});

it('tells dark from light', () => {
  expect(isDark('rgb(17, 18, 17)')).toBe(true);
  expect(isDark('rgb(243, 241, 237)')).toBe(false);
});
