import { describe, expect, it } from 'vitest';
import { callableNames, commandIn, hasCallableNames, readSlash } from '../src/ahp-1/session/slash-commands.js';
import type { SessionState } from '../src/ahp-1/session/state.js';

const skill = (name: string) => ({ type: 'skill' as const, id: name, uri: `file:///${name}`, name });
const customizations = [
  { type: 'directory', id: 'd', uri: 'file:///d', name: '.agents/skills', enabled: true, children: [skill('deploy')] },
  {
    type: 'plugin',
    id: 'p',
    uri: 'file:///p',
    name: 'tests',
    enablement: [{ kind: 'session', enabled: true }],
    children: [skill('run-all')],
  },
  {
    type: 'plugin',
    id: 'q',
    uri: 'file:///q',
    name: 'off',
    enablement: [{ kind: 'global', enabled: false }],
    children: [skill('hidden')],
  },
] as unknown as NonNullable<SessionState['customizations']>;
const own = ['changes', 'commit', 'quit'];
const read = (text: string) => readSlash(text, { customizations }, own);

describe('a message that begins with a slash', () => {
  it('is a command only where it looks like one', () => {
    expect(['/deploy', '/deploy now', '/x:y-z\nmore'].map(commandIn)).toEqual(['deploy', 'deploy', 'x:y-z']);
    for (const text of ['/usr/bin/env is broken', '/', '/ a', '/1', 'see /deploy', '//deploy', '/*/'])
      expect(commandIn(text), text).toBeUndefined();
  });

  it.each(['/deploy prod', '/Deploy', '/tests:run-all', '/usr/bin/env', 'hello', '// a comment', '//server/share/x'])(
    'is sent as it is: %s',
    (text) => expect(read(text)).toEqual({ kind: 'message', text }),
  );

  it.each([
    ['/chnages', 'There is no command /chnages. Did you mean /changes? To send it as a text, write //chnages'],
    ['/comit now', 'There is no command /comit. Did you mean /commit? To send it as a text, write //comit'],
    ['/deplyo', 'There is no command /deplyo. Did you mean /deploy? To send it as a text, write //deplyo'],
    ['/hidden', 'There is no command /hidden. To send it as a text, write //hidden'],
    ['/compact', 'There is no command /compact. To send it as a text, write //compact'],
  ])('is a slip, and is not sent: %s', (text, advice) => {
    expect(read(text)).toMatchObject({ kind: 'unknown', advice });
  });

  it('is sent with one slash where it was written with two', () => {
    expect(read('//chnages are due')).toEqual({ kind: 'message', text: '/chnages are due', isLiteral: true });
    expect(read('//etc')).toEqual({ kind: 'message', text: '/etc', isLiteral: true });
  });

  it('waits for what the host has not found yet', () => {
    const state = (changes: object) => ({ lifecycle: 'ready', customizations, ...changes }) as SessionState;
    expect(callableNames({ customizations })).toEqual(['deploy', 'tests:run-all']);
    expect(hasCallableNames(state({}))).toBe(true);
    expect(hasCallableNames(state({ lifecycle: 'creating' }))).toBe(false);
    expect(hasCallableNames(state({ customizations: undefined }))).toBe(false);
    const loading = [{ ...customizations[0], load: { kind: 'loading' } }];
    expect(hasCallableNames(state({ customizations: loading }))).toBe(false);
  });
});
