import type { OpenSessionState } from '@atrium/client';
import { describe, expect, it } from 'vitest';
import { fileName } from '../../src/chat/export-task.js';
import { slash } from '../../src/chat/slash.js';

const message = (id: string, text: string) => ({ id, message: { text } });
const state = {
  session: {},
  chat: { turns: [], queuedMessages: [message('q1', 'first'), message('q2', 'second')] },
} as unknown as OpenSessionState;
const models = ['small', 'large'].map((id) => ({ id, provider: 'p', name: id }));
const facts = { state, model: { id: 'small' }, models };

describe('commands in a chat', () => {
  it('are only those that it knows; the rest is a message', () => {
    for (const text of ['/nope', 'hello', '/', '/model-x', '//quit', '/toString'])
      expect(slash(text, facts)).toBeUndefined();
    expect(slash('/exit', facts)).toEqual({ kind: 'leave', to: 'shell' });
    expect(slash(' /new ', facts)).toEqual({ kind: 'leave', to: 'new' });
  });

  it('name the models there are, refuse others, and doubt them only where the agent does not tell', () => {
    expect(slash('/model', facts)).toMatchObject({ text: expect.stringMatching(/is small[\s\S]*\n {2}large/) });
    expect(slash('/model large', facts)).toMatchObject({ kind: 'model', model: { id: 'large' } });
    const refused = slash('/model huge', facts);
    expect(refused).toMatchObject({ text: expect.stringMatching(/has no model huge[\s\S]*\n {2}large/) });
    expect(refused).toHaveProperty('kind', 'note');
    expect(slash('/model huge', { ...facts, models: [] })).toMatchObject({
      kind: 'model',
      model: { id: 'huge' },
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

  it('[DAY-080] rename, archive and compact by what every client can send', () => {
    expect(slash('/rename Rain', facts)).toMatchObject({ action: { type: 'session/titleChanged', title: 'Rain' } });
    expect(slash('/title Rain', facts)).toEqual(slash('/rename Rain', facts));
    expect(slash('/archive', facts)).toMatchObject({
      action: { type: 'session/isArchivedChanged', isArchived: true },
    });
    expect(slash('/compact', facts)).toEqual({ kind: 'say', text: '/compact' });
    expect(slash('/compact the names', facts)).toEqual({ kind: 'say', text: '/compact the names' });
  });

  it('[DAY-080] export to a file that is named after the session', () => {
    expect(['Rain & Sun: 2/3', '…', 'x'.repeat(99)].map(fileName)).toEqual([
      'Rain-Sun-2-3',
      'conversation',
      'x'.repeat(60),
    ]);
  });
});
