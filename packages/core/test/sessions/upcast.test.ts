/** What a session of the 0.3.0 model becomes, step by step. Logs and data folders of that model: `log/`, `data-folder/`. */
import type * as Stored from '@atrium/protocol';
import { defaultChatUri, SELECTION_CHANGED } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  type StoredSession,
  type StoredStep,
  upcastDeferred,
  upcastRoot,
  upcastSession,
  upcastTurn,
} from '../../src/sessions/upcast.js';

const URI = 'ahp-session:/s';
const summary: Stored.SessionSummary = {
  ...{ resource: URI, provider: 'p', title: 'Listed', status: 1, createdAt: 1_000, modifiedAt: 2_000 },
};
const archived = { summary: { ...summary, title: 'Archived' }, lifecycle: 'ready', turns: [] };
const listing = JSON.stringify({ summary, lifecycle: 'ready' });
const NOW = 9_000;

const step = (action: object): StoredStep => ({ action: JSON.stringify(action), time: 3_000 });
const damaged: StoredStep = { action: '', time: 3_000, isDamaged: true };
const started = (turnId: string) => step({ type: 'session/turnStarted', turnId, userMessage: { text: turnId } });
const ended = (turnId: string) => step({ type: 'session/turnComplete', turnId });
const cut = (turnId?: string) => step({ type: 'session/truncated', ...(turnId !== undefined && { turnId }) });

interface Given extends Partial<Omit<StoredSession, 'steps'>> {
  readonly steps?: readonly StoredStep[];
}

function up({ steps = [], ...given }: Given = {}) {
  const made = upcastSession({
    ...{ uri: URI, listing, head: JSON.stringify(archived), isHeadDamaged: false, turnCount: 3, now: NOW },
    ...{ indexOfTurn: (id: string) => (/^a\d$/.test(id) ? Number(id.slice(1)) : undefined), steps: () => steps },
    ...given,
  });
  if (!made) return undefined;
  return {
    ...made,
    session: JSON.parse(made.sessionHead),
    chatState: JSON.parse(made.chatHead),
    listed: JSON.parse(made.listing),
    said: made.turns.map(({ id, json }) => [id, JSON.parse(json).message.text]),
  };
}

describe('a session of the 0.3.0 model', () => {
  it('[REL-074] is what its archive says, and the list where that is lost', () => {
    expect(up()).toMatchObject({
      ...{ chat: defaultChatUri(URI), keptTurns: 3, turns: [] },
      ...{
        session: { title: 'Archived', provider: 'p', lifecycle: 'ready' },
        chatState: { resource: defaultChatUri(URI) },
      },
      listed: { lifecycle: 'ready', summary: { resource: URI, title: 'Archived' } },
    });
    expect(up()?.listed.summary).toMatchObject({
      ...{ createdAt: new Date(1_000).toISOString(), modifiedAt: new Date(2_000).toISOString() },
    });
    for (const head of [undefined, '{}']) expect(up({ head })).toMatchObject({ session: { title: 'Listed' } });
    for (const lost of [undefined, '{}', 'null', '7', '{"summary":{}}', '{"summary":7}'])
      expect([lost, up({ head: undefined, listing: lost })]).toEqual([lost, undefined]);
    expect(up({ listing: undefined })).toMatchObject({ session: { title: 'Archived' } });
  });

  it('[REL-074] stays disposed of, as far as the list knows', () => {
    expect(up()?.listed).not.toHaveProperty('disposedAt');
    expect(up({ listing: JSON.stringify({ summary, lifecycle: 'ready', disposedAt: 5 }) })?.listed).toMatchObject({
      disposedAt: 5,
    });
    const byList = up({ head: undefined, listing: JSON.stringify({ summary, lifecycle: 'ready', disposedAt: 5 }) });
    expect(byList?.listed).toMatchObject({ disposedAt: 5 });
    expect(byList?.session).not.toHaveProperty('disposedAt');
  });

  it('[REL-074] has the turns behind its archive, and the turn that runs', () => {
    const made = up({ steps: [started('t'), ended('t'), started('u')] });
    expect(made).toMatchObject({ keptTurns: 3, said: [['t', 't']], chatState: { activeTurn: { id: 'u' } } });
    expect(made?.chatState.turns ?? []).toEqual([]);
    expect(up({ steps: [step({ type: 'session/titleChanged', title: 'Later' })] })).toMatchObject({
      session: { title: 'Later' },
    });
  });

  it.each([
    ['all turns', [cut()], 0, []],
    ['behind an archived turn', [cut('a1')], 2, []],
    ['behind the last archived one, what came later', [started('t'), ended('t'), cut('a2')], 3, []],
    ['behind a later turn', [started('t'), ended('t'), started('u'), ended('u'), cut('t')], 3, ['t']],
    ['twice, the lower one', [cut('a0'), cut('a2')], 1, []],
    ['and goes on behind', [cut('a0'), started('t'), ended('t')], 1, ['t']],
    ['behind a turn that is nowhere, which changes nothing archived', [cut('gone')], 3, []],
  ])('[REL-074] was cut: %s', (_, steps, keptTurns, left) => {
    const made = up({ steps });
    expect([made?.keptTurns, made?.said.map(([id]) => id)]).toEqual([keptTurns, left]);
  });

  it.each(['session/turnComplete', 'session/turnCancelled', 'session/error', 'session/truncated'])(
    '[REL-063] without an archive, %s was the last that went into it: only what came behind is done again',
    (type) => {
      const end = step({ type, turnId: 't', error: { errorType: 'x', message: 'x' } });
      const steps = [started('t'), end, step({ type: 'session/titleChanged', title: 'Later' }), started('u')];
      const made = up({ head: undefined, turnCount: 1, steps });
      expect(made).toMatchObject({
        keptTurns: 1,
        said: [],
        session: { title: 'Later' },
        chatState: { activeTurn: { id: 'u' } },
      });
    },
  );

  it('[REL-064] ends a turn that misses something, and says so', () => {
    const error = { kind: 'error', error: { errorType: 'damaged' } };
    const made = up({ steps: [started('t'), damaged] });
    expect(made?.chatState).not.toHaveProperty('activeTurn');
    expect(made?.turns.map(({ json }) => JSON.parse(json))).toMatchObject([{ id: 't', responseParts: [error] }]);
    expect(up({ steps: [started('t')], isHeadDamaged: true, head: undefined })?.said).toEqual([['t', 't']]);
    expect(up({ steps: [started('t')] })).toMatchObject({ said: [], chatState: { activeTurn: { id: 't' } } });
    expect(up({ steps: [damaged] })).toMatchObject({ said: [] });
    // Without an archive, what was damaged before the last end of a turn is in no turn that runs.
    const behind = up({ head: undefined, steps: [damaged, ended('t'), started('u')] });
    expect(behind).toMatchObject({ said: [], chatState: { activeTurn: { id: 'u' } } });
    const whole = up({ steps: [damaged, ended('t'), started('u')] });
    expect(whole?.said).toEqual([['u', 'u']]);
  });
});

describe('what else a host of the 0.3.0 model stored', () => {
  it('[REL-074] of a turn is the turn', () => {
    const turn = { id: 't', userMessage: { text: 'hi' }, responseParts: [], state: 'complete' };
    expect(JSON.parse(upcastTurn(JSON.stringify(turn)))).toMatchObject({
      id: 't',
      message: { text: 'hi' },
      state: 'complete',
    });
  });

  it('[REL-064] of a damaged turn is what stands in its place', () => {
    const placeholder = '{"id":"damaged-1", "message":{"text":""}}';
    expect(upcastTurn(placeholder)).toBe(placeholder);
  });

  it('[REL-074] of the host is its state with everything behind it', () => {
    const root = JSON.stringify({ agents: [], activeSessions: 1 });
    const changed = JSON.stringify({ type: 'root/activeSessionsChanged', activeSessions: 4 });
    expect(JSON.parse(upcastRoot(root, []))).toMatchObject({ activeSessions: 1 });
    expect(JSON.parse(upcastRoot(root, [changed]))).toMatchObject({ activeSessions: 4 });
  });

  it('[REL-074] of what waits for the end of a turn are the choices of a model and an agent', () => {
    const origin = { clientId: 'desk', epoch: 1, clientSeq: 2 };
    const waiting = [
      { action: { type: 'session/modelChanged', model: { id: 'm' } }, origin },
      { action: { type: 'session/agentChanged', agent: { uri: 'a' } }, origin },
      { action: { type: 'session/agentChanged' }, origin },
      { action: { type: 'session/titleChanged', title: 'x' }, origin },
    ];
    expect(JSON.parse(upcastDeferred(JSON.stringify(waiting)))).toEqual([
      { action: { type: SELECTION_CHANGED, model: { id: 'm' } }, origin },
      { action: { type: SELECTION_CHANGED, agent: { uri: 'a' } }, origin },
      { action: { type: SELECTION_CHANGED, agent: null }, origin },
    ]);
  });
});
