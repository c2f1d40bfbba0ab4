/** Data that a host with the 0.3.0 model stored, in the 1.0 model. */
import { describe, expect, it } from 'vitest';
import type { ModelView } from '../../../src/dialects/dialect.js';
import { actionUp } from '../../../src/dialects/model-0.3/actions-up.js';
import { sessionDown, summaryDown } from '../../../src/dialects/model-0.3/states.js';
import { turnDown } from '../../../src/dialects/model-0.3/turns.js';
import { sessionUp, sessionUpWithLog, turnUp } from '../../../src/dialects/model-0.3/upcast.js';
import type * as Ahp03 from '../../../src/index.js';
import { sessionReducer } from '../../../src/session/reducer.js';
import { SessionStatus } from '../../../src/session/status.js';
import {
  cancelled,
  completed,
  finishedTurn,
  inputRequest,
  markdown,
  pendingConfirmation,
  plugin,
  running,
  sessionState,
  sessionSummary,
  skill,
  toolPart,
  withTurn,
} from '../../support/builders.js';
import { CHAT } from '../../support/model-host.js';
import { randomHistory } from '../../support/session-history.js';

const json = (value: unknown) => JSON.parse(JSON.stringify(value));

/** As our host stored a server of a plugin. */
function server(id: string, enabled: boolean) {
  return { type: 'mcpServer', id, uri: 'u', name: id, enabled, state: { kind: 'stopped' } };
}

/** Up, through storage, and down again. */
function roundTrip(state: Ahp03.SessionState): unknown {
  const { session, chat, summary } = json(sessionUp(state, CHAT));
  const { resource, createdAt, modifiedAt } = summary;
  return json(sessionDown(session, chat, { resource, createdAt, modifiedAt }));
}

describe('a stored turn', () => {
  const error = { errorType: 'model', message: 'Overloaded', stack: 'at …' };

  it('that failed ends with the reason as a part, and comes down as it was', () => {
    const turn = finishedTurn('t', { state: 'error', error, responseParts: [markdown('p', 'x')] });
    const up = turnUp(turn);
    expect(up.responseParts).toEqual([markdown('p', 'x'), { kind: 'error', error }]);
    expect(up).not.toHaveProperty('error');
    expect(json(turnDown(up))).toEqual(json(turn));
  });

  it('keeps calls, the clients that ran them, advice, unknown parts, and members that nobody knows', () => {
    const responseParts = [
      toolPart(completed({ toolClientId: 'desk', _meta: { server: 'x' } })),
      toolPart(cancelled({ userSuggestion: { text: 'Ask first', _meta: { k: 1 } } })),
      { kind: 'hologram', id: 'h', depth: 3 },
      { kind: 'systemNotification', content: 'note', userMessage: { text: 'steer' } },
    ] as unknown as Ahp03.ResponsePart[];
    const userMessage = { text: 'hi', attachments: [{ type: 'simple', label: 'note' }], tone: 'kind' };
    const turn = json({ ...finishedTurn('t', { responseParts }), userMessage, mood: 'good' });
    const up = json(turnUp(turn));
    expect(up.message.origin).toEqual({ kind: 'user' });
    expect(up.responseParts[0].toolCall.contributor).toEqual({ kind: 'client', clientId: 'desk' });
    expect(json(turnDown(up))).toEqual(turn);
  });
});

describe('a stored session', () => {
  it('[UP-243] [UP-244] [UP-245] comes down as it was, with members that nobody knows on every level', () => {
    const summary = {
      ...sessionSummary({
        status: SessionStatus.Idle | SessionStatus.IsRead | SessionStatus.IsArchived,
        activity: 'resting',
        project: { uri: 'file:///w', displayName: 'w' },
        model: { id: 'm', config: { effort: 'low' } },
        agent: { uri: 'file:///a.md' },
        workingDirectory: 'file:///w',
        changesets: [{ label: 'All', uriTemplate: 'ahp-changeset:/all', additions: 3, deletions: 1, files: 2 }],
      }),
      colour: 'green',
    };
    const state = json({
      ...sessionState({
        summary,
        lifecycle: 'creationFailed',
        creationError: { errorType: 'start', message: 'No backend' },
        serverTools: [{ name: 'find' }],
        activeClient: {
          clientId: 'desk',
          tools: [],
          customizations: [plugin('mine', { enabled: false } as never) as never],
        },
        turns: [finishedTurn('t1')],
        steeringMessage: { id: 's', userMessage: { text: 'faster' } },
        queuedMessages: [{ id: 'q', userMessage: { text: 'then' } }],
        config: { schema: { type: 'object', properties: {} }, values: { a: 1 } },
        customizations: [
          plugin('on', { children: [skill('k'), server('m', true), server('n', false)] } as never),
          plugin('off', { enabled: false, load: { kind: 'loaded' } } as never),
          { type: 'directory', id: 'd', uri: 'u', name: 'd', enabled: false, contents: 'rule', writable: true },
          { type: 'rule', id: 'bare', uri: 'u', name: 'bare', globs: ['*'] } as never,
        ],
        _meta: { git: 'main' },
      }),
      weather: 'fine',
    });
    expect(roundTrip(state)).toEqual(state);
  });

  it('[UP-242] that waits for an answer outside of turns lists the question, and its chat is idle', () => {
    const request = inputRequest('trust');
    const summary = sessionSummary({ status: SessionStatus.InputNeeded });
    const state = sessionState({ summary, inputRequests: [request] });
    const { session, chat } = sessionUp(state, CHAT);
    expect(session.inputNeeded).toEqual([{ kind: 'chatInput', id: 'standing:trust', chat: CHAT, request }]);
    expect([session.status, chat.status]).toEqual([SessionStatus.InputNeeded, SessionStatus.Idle]);
    expect(roundTrip(state)).toEqual(json(state));
  });

  it('[UP-242] with a running turn has its questions in the turn, and says what waits', () => {
    const calls = [toolPart(pendingConfirmation()), toolPart(running({ toolCallId: 'call-2', toolClientId: 'desk' }))];
    const summary = sessionSummary({ status: SessionStatus.InputNeeded });
    const state = withTurn(calls, { summary, inputRequests: [inputRequest('q')] });
    const { session, chat } = sessionUp(state, CHAT);
    expect(session.inputNeeded?.map(({ kind, id }) => [kind, id])).toEqual([
      ['toolConfirmation', 'tool:call-1'],
      ['toolClientExecution', 'tool:call-2'],
      ['chatInput', 'input:q'],
    ]);
    expect(chat.activeTurn?.responseParts.at(-1)).toEqual({ kind: 'inputRequest', request: inputRequest('q') });
    expect(roundTrip(state)).toEqual(json(state));
  });

  it('[UP-243] [UP-244] [UP-245] has an entry for the catalogue, which lists show to 0.3.0 as before', () => {
    const summary = sessionSummary({
      createdAt: 1_500,
      modifiedAt: 2_500,
      model: { id: 'm' },
      workingDirectory: 'file:///w',
      changesets: [{ label: 'One turn', uriTemplate: 'ahp-changeset:/{turnId}', additions: 3 }],
    });
    const { summary: entry } = sessionUp(sessionState({ summary }), CHAT);
    expect(entry).toMatchObject({
      createdAt: '1970-01-01T00:00:01.500Z',
      defaultChat: CHAT,
      changes: { additions: 3 },
      chats: [{ resource: CHAT, title: summary.title }],
    });
    expect(summaryDown(json(entry))).toEqual(summary);
  });

  it('with a log behind it is what 0.3.0 makes of both', () => {
    const { initial, steps, final } = randomHistory(11, 90);
    const middle = steps[40]?.before ?? initial;
    const log = json(steps.slice(40).map(({ action, now }) => ({ action, now })));
    expect(json(sessionUpWithLog(json(middle), log, CHAT))).toEqual(json(sessionUp(final, CHAT)));
    const again = log.reduce(
      (state: Ahp03.SessionState, { action, now }: { action: Ahp03.SessionAction; now: number }) =>
        sessionReducer(state, action, { now }),
      json(middle),
    );
    expect(json(sessionUpWithLog(again, [], CHAT))).toEqual(json(sessionUp(final, CHAT)));
  });

  it('has deferred actions that go up like those of a client', () => {
    const channel = 'ahp-session:/one';
    const { session } = sessionUp(sessionState(), CHAT);
    const view = { defaultChatOf: () => CHAT, sessionOf: () => session } as unknown as ModelView;
    const deferred = { type: 'session/modelChanged', model: { id: 'm' } };
    expect(actionUp(deferred, { channel, clientId: 'desk', view })).toEqual({
      channel,
      action: { type: 'x-atrium/selectionChanged', model: { id: 'm' } },
    });
  });
});
