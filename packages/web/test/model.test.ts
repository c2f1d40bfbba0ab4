/** The pure parts of the page. */
import type { ActiveTurn, ChatInputRequest, Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { diffLines, hunks } from '../src/diff/diff.js';
import { providersOf } from '../src/model/customizations.js';
import { ago, pathIn, pathOf, short, uriOf } from '../src/model/format.js';
import { rowsOf } from '../src/model/rows.js';
import { activityOf, isUnread } from '../src/model/sessions.js';
import { answerAction } from '../src/parts/answer.js';
import { isAnswered, submitted } from '../src/questions/answers.js';
import { said } from './support/puppet-host.js';

describe('diff', () => {
  const text = (before: string, after: string) =>
    hunks(diffLines(before, after)).map((line) =>
      line.kind === 'gap' ? `@${line.lines}` : `${line.kind[0]} ${line.text}`,
    );

  it('shows what changed, with three lines around it', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const changed = lines.with(10, 'LINE 10');
    expect(text(lines.join('\n'), changed.join('\n'))).toEqual([
      '@7',
      ...['s line 7', 's line 8', 's line 9', 'r line 10', 'a LINE 10', 's line 11', 's line 12', 's line 13'],
      '@6',
    ]);
  });

  it('finds lines that stayed between lines that changed', () => {
    expect(text('a\nb\nc\nd', 'x\nb\ny\nd')).toEqual(['r a', 'a x', 's b', 'r c', 'a y', 's d']);
    expect(text('', 'new\n')).toEqual(['a new']);
    expect(text('old', '')).toEqual(['r old']);
  });

  it('gives up on two huge texts without hanging', () => {
    const huge = (word: string) => Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`).join('\n');
    expect(diffLines(huge('a'), huge('b'))).toHaveLength(10_000);
  });
});

describe('format', () => {
  it('turns paths into URIs and back', () => {
    expect(uriOf('/home/me/my app')).toBe('file:///home/me/my%20app');
    expect(uriOf('C:\\work\\app')).toBe('file:///C:/work/app');
    expect(uriOf('relative')).toBeUndefined();
    expect(pathOf('file:///home/me/my%20app')).toBe('/home/me/my app');
    expect(pathOf('file:///C:/work')).toBe('C:/work');
    expect(pathIn('file:///srv/app/a/b.ts', 'file:///srv/app')).toBe('a/b.ts');
    expect(pathIn('file:///srv/application/b.ts', 'file:///srv/app')).toBe('/srv/application/b.ts');
  });

  it('writes numbers and times short', () => {
    expect([950, 1_200, 1_000, 34_500, 1_250_000].map(short)).toEqual(['950', '1.2k', '1k', '35k', '1.3M']);
    expect([ago(0, 10_000), ago(0, 120_000), ago(0, 7_200_000)]).toEqual(['now', '2 min', '2 h']);
  });
});

describe('status', () => {
  it('tells activity from flags', () => {
    expect([1, 2, 8, 24, 24 + 64, 33].map((status) => activityOf({ status }))).toEqual([
      'idle',
      'error',
      'working',
      'needs-you',
      'needs-you',
      'idle',
    ]);
    expect([isUnread({ status: 1 }), isUnread({ status: 33 }), isUnread({ status: 8 })]).toEqual([true, false, false]);
  });
});

describe('rows', () => {
  const turn: Turn = { id: 't1', message: said('a'), responseParts: [], state: 'complete' };
  const part = (content: string) => ({ kind: 'markdown' as const, id: 'm', content });

  it('stay the same objects while only the last part grows', () => {
    const turns = [turn];
    const message = said('b');
    const first = part('done');
    const at = (content: string): ActiveTurn => ({
      ...{ id: 't2', startedAt: '', message },
      responseParts: [first, part(content)],
    });
    const before = rowsOf({ turns, activeTurn: at('x') });
    const after = rowsOf({ turns, activeTurn: at('xy') });
    const changed = after.filter((row, index) => row !== before[index]).map(({ key }) => key);
    expect(changed).toEqual(['t2/1', 't2/working']);
  });
});

describe('providers', () => {
  it('reads what the host says, and survives anything else', () => {
    const provider = { name: 'ci', providerId: 'p1', trust: 'token', tools: ['build', 7], away: true };
    expect(providersOf({ _meta: { gateway: { providers: [provider, 'x', null, {}] } } })).toEqual([
      {
        name: 'ci',
        instance: undefined,
        providerId: 'p1',
        trust: 'token',
        tools: ['build'],
        hasContext: false,
        isAway: true,
      },
    ]);
    expect(providersOf({ _meta: { gateway: { providers: 'many' } } })).toEqual([]);
    expect(providersOf({})).toEqual([]);
  });
});

describe('answers', () => {
  const request: ChatInputRequest = {
    id: 'r',
    questions: [
      { kind: 'text', id: 'a', message: 'A', defaultValue: 'usual' },
      { kind: 'text', id: 'b', message: 'B' },
      { kind: 'number', id: 'c', message: 'C' },
    ],
    answers: { c: { state: 'draft', value: { kind: 'number', value: 3 } } },
  };

  it('submits drafts and defaults, and skips the rest', () => {
    expect(submitted(request)).toEqual({
      a: { state: 'submitted', value: { kind: 'text', value: 'usual' } },
      b: { state: 'skipped' },
      c: { state: 'submitted', value: { kind: 'number', value: 3 } },
    });
    expect(isAnswered({ kind: 'selected', value: '', freeformValues: ['x'] })).toBe(true);
    expect(isAnswered({ kind: 'selected-many', value: [] })).toBe(false);
  });

  it('sends changed input and advice, and no option of its own making', () => {
    const call = {
      status: 'pending-confirmation' as const,
      toolCallId: 'c',
      toolName: 't',
      displayName: 'T',
      invocationMessage: '',
      toolInput: 'ls',
      editable: true,
    };
    const plain = { call, turnId: 't', asked: 'ls', input: 'ls -a', advice: 'look first ' };
    expect(answerAction({ ...plain, option: { id: 'go', label: 'Go', kind: 'approve' } })).toMatchObject({
      approved: true,
      editedToolInput: 'ls -a',
      selectedOptionId: 'go',
    });
    expect(answerAction({ ...plain, option: { id: 'no', label: 'No', kind: 'deny' } })).toMatchObject({
      approved: false,
      userSuggestion: { text: 'look first' },
    });
  });
});
