import type { OpenSessionState } from '@atrium/client';
import { describe, expect, it } from 'vitest';
import { slash, suggestions } from '../../src/chat/slash.js';

const message = (id: string, text: string) => ({ id, message: { text } });
const state = {
  session: {},
  chat: { turns: [], queuedMessages: [message('q1', 'first'), message('q2', 'second')] },
} as unknown as OpenSessionState;
const facts = { state, model: 'small', models: ['small', 'large'] };

describe('commands in a chat', () => {
  it('are only those that it knows; the rest is a message', () => {
    for (const text of ['/nope', 'hello', '/', '/model-x', '//quit', '/toString'])
      expect(slash(text, facts)).toBeUndefined();
    expect(slash('/exit', facts)).toEqual({ kind: 'leave', to: 'shell' });
    expect(slash(' /new ', facts)).toEqual({ kind: 'leave', to: 'new' });
  });

  it('name the models there are, refuse others, and doubt them only where the agent does not tell', () => {
    expect(slash('/model', facts)).toMatchObject({ text: expect.stringMatching(/is small[\s\S]*\n {2}large/) });
    expect(slash('/model large', facts)).toMatchObject({ kind: 'model', id: 'large' });
    const refused = slash('/model huge', facts);
    expect(refused).toMatchObject({ text: expect.stringMatching(/has no model huge[\s\S]*\n {2}large/) });
    expect(refused).toHaveProperty('kind', 'note');
    expect(slash('/model huge', { ...facts, models: [] })).toMatchObject({
      kind: 'model',
      id: 'huge',
      text: expect.stringContaining('does not say which models it has'),
    });
  });

  it('take a waiting message back into the line', () => {
    expect(slash('/unqueue', facts)).toMatchObject({
      action: { type: 'chat/pendingMessageRemoved', id: 'q2' },
      draft: { text: 'second' },
    });
  });

  it('[UP-115] go on with the last turn where it failed, and only where the host says that it can', () => {
    const failed = (resumable: boolean) => {
      const responseParts = [{ kind: 'error', error: { errorType: 'x', message: 'full' }, resumable }];
      return {
        ...facts,
        state: { session: {}, chat: { turns: [{ id: 't1', state: 'error', responseParts }] } },
      } as never;
    };
    expect(slash('/resume', failed(true))).toEqual({ kind: 'act', action: { type: 'chat/turnResume', turnId: 't1' } });
    expect(slash('/resume', failed(false))).toMatchObject({ kind: 'note' });
    expect(slash('/resume', facts)).toMatchObject({ kind: 'note' });
  });

  it('are suggested while their name is typed, in order', () => {
    expect(suggestions('/').map(({ name }) => name)).toContain('help');
    expect(suggestions('/s').map(({ name }) => name)).toEqual(['sessions', 'search', 'stage']);
    expect(suggestions('/sessions now')).toEqual([]);
    expect(suggestions('see /s')).toEqual([]);
  });
});
