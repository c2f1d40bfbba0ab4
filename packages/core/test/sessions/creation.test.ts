import type { AgentInfo } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { forkTitle, Reserved, unknownModel } from '../../src/sessions/creation.js';
import { TITLE_MAX_CHARACTERS } from '../../src/sessions/limits.js';

describe('a model that an agent does not have', () => {
  const agent = (...ids: string[]) =>
    ({ provider: 'p', models: ids.map((id) => ({ id, name: id })) }) as never as AgentInfo;

  it('is none without a choice, of an agent that names no models, and one that it has', () => {
    expect([unknownModel(agent('a'), undefined), unknownModel(agent(), { id: 'x' })]).toEqual([undefined, undefined]);
    expect(unknownModel(agent('a', 'b'), { id: 'b' })).toBeUndefined();
  });

  it('is refused with those that there are, up to twenty', () => {
    expect(unknownModel(agent('a', 'b'), { id: 'zzz' })).toMatch(/^the agent p has no model "zzz"\. It has: a, b$/);
    const many = Array.from({ length: 23 }, (_, index) => `m${index}`);
    expect(unknownModel(agent(...many.slice(0, 20)), { id: 'zzz' })).toMatch(/, m19$/);
    expect(unknownModel(agent(...many), { id: 'zzz' })).toMatch(/, m18, m19 and 3 more$/);
  });

  it('may be a slip of the finger', () => {
    expect(unknownModel(agent('claude-large', 'other'), { id: 'claude-lagre' })).toContain('claude-large');
    expect(unknownModel(agent('claude-large', 'other'), { id: 'claude-lagre' })).not.toContain('?.');
  });
});

describe('the title of a fork', () => {
  it.each([
    ['Rain', 'Rain (fork)'],
    ['Rain (fork)', 'Rain (fork 2)'],
    ['Rain (fork 2)', 'Rain (fork 3)'],
    ['Rain (fork 99)', 'Rain (fork 100)'],
    ['Rain (fork x)', 'Rain (fork x) (fork)'],
    ['(fork) Rain', '(fork) Rain (fork)'],
    ['two\nlines (fork)', 'two lines (fork 2)'],
  ])('of %j is %j', (title, expected) => {
    expect(forkTitle(title)).toBe(expected);
  });

  it('is no longer than a title may be', () => {
    const title = forkTitle('x'.repeat(TITLE_MAX_CHARACTERS));
    expect([title.length <= TITLE_MAX_CHARACTERS, title.endsWith(' (fork)')]).toEqual([true, true]);
  });
});

describe('URIs that something is being done with', () => {
  it('are taken until it is done, or has failed', async () => {
    const reserved = new Reserved();
    let finish: (value: string) => void = () => {};
    const work = reserved.during('s', () => new Promise<string>((resolve) => (finish = resolve)));
    expect([reserved.has('s'), reserved.has('t')]).toEqual([true, false]);
    let isSettled = false;
    const settled = reserved.settled('s').then(() => {
      isSettled = true;
    });
    await Promise.resolve();
    expect(isSettled).toBe(false);
    finish('made');
    expect(await work).toBe('made');
    await settled;
    expect(reserved.has('s')).toBe(false);
    const failing = reserved.during('s', () => Promise.reject(new Error('no')));
    await reserved.settled('s');
    await expect(failing).rejects.toThrow('no');
    expect(reserved.has('s')).toBe(false);
    await reserved.settled('t');
  });
});
