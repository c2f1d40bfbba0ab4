/** Single actions between 1.0 and 0.3.0, where a word is worth more than a law. */
import { describe, expect, it } from 'vitest';
import { stateActions } from '../../../src/ahp-1/actions.js';
import type * as Ahp1 from '../../../src/ahp-1/index.js';
import { PRIVATE, selectionAction, withShownClient } from '../../../src/ahp-1/private-members.js';
import { actionDown, isUntranslatable } from '../../../src/dialects/model-0.3/actions-down.js';
import { actionUp } from '../../../src/dialects/model-0.3/actions-up.js';
import { CLIENT_DISPATCHABLE, isClientDispatchable } from '../../../src/dispatchable.js';
import { sessionState, sessionSummary, withTurn } from '../../support/builders.js';
import { CHAT, ModelHost } from '../../support/model-host.js';

const down = (action: object) => actionDown(action as { type: string });

describe('an action of 1.0, in 0.3.0', () => {
  it('of a conversation is the session action of the same name', () => {
    const delta = { type: 'chat/delta', turnId: 't', partId: 'p', content: 'x' };
    expect(down({ ...delta, _meta: { any: 1 } })).toEqual({ ...delta, type: 'session/delta' });
    const message = { text: 'hi', origin: { kind: 'user' }, model: { id: 'm' }, agent: { uri: 'a' }, _meta: { k: 1 } };
    const started = { type: 'chat/turnStarted', turnId: 't', startedAt: '2026-01-01T00:00:00.000Z', message };
    expect(down(started)).toEqual({
      type: 'session/turnStarted',
      turnId: 't',
      userMessage: { text: 'hi', _meta: { k: 1 } },
    });
  });

  it('of a call names the client that runs it, and neither intention nor risk', () => {
    const target = { turnId: 't', toolCallId: 'c' };
    const contributor = { kind: 'client', clientId: 'desk' };
    const start = { ...target, toolName: 'find', displayName: 'Find' };
    expect(down({ type: 'chat/toolCallStart', ...start, intention: 'look', contributor })).toEqual({
      type: 'session/toolCallStart',
      ...start,
      toolClientId: 'desk',
    });
    const ready = { ...target, invocationMessage: 'Find', toolInput: '{}', editable: true };
    const risk = {
      riskAssessment: { kind: 'judge', status: 'loading' },
      contributor: { kind: 'mcp', customizationId: 'x' },
    };
    expect(down({ type: 'chat/toolCallReady', ...ready, ...risk })).toEqual({
      type: 'session/toolCallReady',
      ...ready,
    });
    expect(down({ type: 'chat/toolCallDelta', ...target, invocationMessage: 'F' })).toEqual({
      type: 'session/toolCallDelta',
      ...target,
      content: '',
      invocationMessage: 'F',
    });
  });

  it('has no reference in place of the input of a call', () => {
    const ready = { type: 'chat/toolCallReady', turnId: 't', toolCallId: 'c', invocationMessage: 'Find' };
    expect(down({ ...ready, toolInput: { uri: 'content://1' } })).toEqual({ ...ready, type: 'session/toolCallReady' });
  });

  it('that ends a turn with an error carries the error itself', () => {
    const error = { errorType: 'model', message: 'Overloaded' };
    const failed = { type: 'chat/error', turnId: 't', duration: 3, part: { kind: 'error', error, resumable: true } };
    expect(down(failed)).toEqual({ type: 'session/error', turnId: 't', error });
  });

  it.each([
    { type: 'chat/turnResume', turnId: 't' },
    { type: 'session/defaultChatChanged', defaultChat: 'ahp-chat:/2' },
    { type: 'session/workingDirectoryReplaced', directory: 'a', replacement: 'b', [PRIVATE]: { primary: 'b' } },
    { type: 'changeset/contentChanged', files: [] },
  ])('that has no words there asks for a snapshot: $type', (action) => {
    const shown = actionDown(action);
    expect(isUntranslatable(shown) && shown.untranslatable).toContain('snapshot');
  });

  it('[UP-229] that loads older turns for everybody is not shown: clients fetch them for themselves', () => {
    expect(down({ type: 'chat/turnsLoaded', turns: [] })).toBeUndefined();
  });

  it('[UP-242] that lists a standing question asks it, and one that mirrors a question of a turn says nothing', () => {
    const request = { id: 'q', message: 'Trust?' };
    const entry = { kind: 'chatInput', chat: CHAT, request };
    const set = (id: string, extra = {}) =>
      down({ type: 'session/inputNeededSet', request: { ...entry, id }, ...extra });
    expect(set('standing:q')).toEqual({ type: 'session/inputRequested', request });
    expect(set('standing:q', { [PRIVATE]: { shown: true } })).toBeUndefined();
    expect(set('input:q')).toBeUndefined();
    const removed = { type: 'session/inputNeededRemoved', id: 'standing:q' };
    expect(down(removed)).toEqual({ type: 'session/inputCompleted', requestId: 'q', response: 'cancel' });
    expect(down({ ...removed, [PRIVATE]: { shown: true } })).toBeUndefined();
  });

  it('[UP-243] that changes the selection names the model or the agent, with options as text', () => {
    const session = { _meta: { git: 'main' } };
    const model = { id: 'm', config: { depth: 3, fast: true } };
    const chosen = selectionAction(session, { type: 'x-atrium/selectionChanged', model });
    expect(down(chosen)).toEqual({
      type: 'session/modelChanged',
      model: { id: 'm', config: { depth: '3', fast: 'true' } },
    });
    expect(chosen._meta).toEqual({ git: 'main', 'atrium.selection': { model } });
    const cleared = selectionAction(chosen, { type: 'x-atrium/selectionChanged', agent: null });
    expect(down(cleared)).toEqual({ type: 'session/agentChanged' });
    expect(cleared._meta).toEqual(chosen._meta);
    const meta = { type: 'session/metaChanged', _meta: { ...chosen._meta, git: 'side' } };
    expect(down(meta)).toEqual({ type: 'session/metaChanged', _meta: { git: 'side' } });
  });

  it('that sets an active client shows it when the host says that it is the one to show', () => {
    const desk = { clientId: 'desk', tools: [] };
    const set = { type: 'session/activeClientSet' as const, activeClient: desk };
    const { session: alone } = new ModelHost(sessionState());
    const joined = { ...alone, activeClients: [desk] };
    expect(down(withShownClient(set, alone, joined))).toEqual({
      type: 'session/activeClientChanged',
      activeClient: desk,
    });
    expect(down(withShownClient(set, joined, joined))).toBeUndefined();
    const asked = withShownClient({ ...set, [PRIVATE]: {} }, joined, joined);
    expect(down(asked), 'a client of an older wire waits for an answer').toBeDefined();
    const tools = [{ name: 'find' }];
    const grown = { ...alone, activeClients: [{ ...desk, tools }] };
    expect(down(withShownClient({ ...set, activeClient: { ...desk, tools } }, joined, grown))).toEqual({
      type: 'session/activeClientToolsChanged',
      tools,
    });
    const left = { type: 'session/activeClientRemoved' as const, clientId: 'desk' };
    expect(down(withShownClient(left, joined, alone))).toEqual({
      type: 'session/activeClientChanged',
      activeClient: null,
    });
  });

  it('that switches a customization says what the first decision says', () => {
    const toggled = (...enablement: object[]) => down({ type: 'session/customizationToggled', id: 'x', enablement });
    const off = { kind: 'session', enabled: false };
    expect(toggled(off, { kind: 'global', enabled: true })).toMatchObject({ id: 'x', enabled: false });
    expect(toggled()).toMatchObject({ enabled: true });
  });

  it('[UP-245] that lists changesets keeps their counts, and drops what they are for', () => {
    const entry = { label: 'Turn', uriTemplate: 'ahp-changeset:/{turnId}', additions: 3, files: 1 };
    const changesets = [{ ...entry, changeKind: 'turn', capabilities: { review: {} } }];
    expect(down({ type: 'session/changesetsChanged', changesets })).toEqual({
      type: 'session/changesetsChanged',
      changesets: [entry],
    });
  });

  it('of a terminal is the same, but that a claim names no chat', () => {
    const claim = { kind: 'session', session: 'ahp-session:/1', turnId: 't' };
    expect(down({ type: 'terminal/claimed', claim: { ...claim, chat: CHAT } })).toEqual({
      type: 'terminal/claimed',
      claim,
    });
  });

  it('of a type that the model does not know is not shown', () => {
    expect(down({ type: 'session/unheardOf' })).toBeUndefined();
    expect(down({ type: 'toString' })).toBeUndefined();
  });

  it('never has a type that 0.3.0 does not know', () => {
    const newer = Object.keys(stateActions).filter((type) => !Object.hasOwn(CLIENT_DISPATCHABLE, type));
    expect(newer.length).toBeGreaterThan(50);
    for (const type of newer) {
      const shown = shownOrNothing({ type });
      if (shown) expect(CLIENT_DISPATCHABLE).toHaveProperty([shown.type]);
    }
  });
});

/** The translation of an action that has nothing but its type; translators of others may look into members. */
function shownOrNothing(action: { type: string }): { type: string } | undefined {
  try {
    const shown = actionDown(action);
    return shown && !isUntranslatable(shown) ? shown : undefined;
  } catch {
    return undefined;
  }
}

describe('an action that a client of 0.3.0 dispatches, in 1.0', () => {
  const host = new ModelHost(withTurn([], { activeClient: { clientId: 'desk', displayName: 'Desk', tools: [] } }));
  const context = { channel: host.resource, clientId: 'desk', view: host.view };
  const up = (action: object) => actionUp(action as { type: string }, context);

  it('has a translation, for every type that clients may dispatch', () => {
    const types = Object.keys(CLIENT_DISPATCHABLE).filter(isClientDispatchable);
    const filled = { userMessage: { text: '' }, tools: [], claim: { kind: 'client', clientId: 'desk' } };
    for (const type of types) expect(up({ ...filled, type }), type).not.toHaveProperty('refused');
    expect(up({ type: 'session/delta' })).toEqual({ refused: 'clients cannot dispatch session/delta' });
  });

  it('of a conversation goes to the default chat', () => {
    const action = { type: 'session/turnStarted', turnId: 't', userMessage: { text: 'hi' }, queuedMessageId: 'q' };
    expect(up(action)).toEqual({
      channel: CHAT,
      action: {
        type: 'chat/turnStarted',
        turnId: 't',
        message: { text: 'hi', origin: { kind: 'user' } },
        queuedMessageId: 'q',
      },
    });
    const denied = { turnId: 't', toolCallId: 'c', approved: false, reason: 'denied' };
    const advice = { userSuggestion: { text: 'Ask first' } };
    expect(up({ type: 'session/toolCallConfirmed', ...denied, ...advice })).toEqual({
      channel: CHAT,
      action: {
        type: 'chat/toolCallConfirmed',
        ...denied,
        userSuggestion: { text: 'Ask first', origin: { kind: 'user' } },
      },
    });
  });

  it('[UP-243] that chooses a model or an agent is the private action for that', () => {
    const { resource: channel } = host;
    expect(up({ type: 'session/modelChanged', model: { id: 'm' } })).toEqual({
      channel,
      action: { type: 'x-atrium/selectionChanged', model: { id: 'm' } },
    });
    expect(up({ type: 'session/agentChanged' })).toEqual({
      channel,
      action: { type: 'x-atrium/selectionChanged', agent: null },
    });
  });

  it('that changes tools sets the whole client again, and one that leaves removes the sender', () => {
    const tools = [{ name: 'find' }];
    const activeClient = { clientId: 'desk', displayName: 'Desk', tools };
    expect(up({ type: 'session/activeClientToolsChanged', tools })).toMatchObject({
      action: { type: 'session/activeClientSet', activeClient },
    });
    const stranger = { ...context, clientId: 'phone' };
    expect(actionUp({ type: 'session/activeClientToolsChanged', tools } as never, stranger)).toEqual({
      refused: 'only the active client can change its tools',
    });
    expect(up({ type: 'session/activeClientChanged', activeClient: null })).toMatchObject({
      action: { type: 'session/activeClientRemoved', clientId: 'desk' },
    });
  });

  it('that switches a customization keeps the decisions of wider scopes', () => {
    const wide = { kind: 'global', enabled: true };
    const plugin = { type: 'plugin', id: 'p', enablement: [{ kind: 'session', enabled: true }, wide] };
    const session = { ...host.session, customizations: [plugin] } as unknown as Ahp1.SessionState;
    const view = { ...host.view, sessionOf: () => session };
    const action = { type: 'session/customizationToggled', id: 'p', enabled: false };
    expect(actionUp(action, { ...context, view })).toMatchObject({
      action: { enablement: [{ kind: 'session', enabled: false }, wide] },
    });
  });

  it('that claims a terminal for a session names its default chat', () => {
    const claim = { kind: 'session', session: host.resource };
    expect(up({ type: 'terminal/claimed', claim })).toMatchObject({ action: { claim: { ...claim, chat: CHAT } } });
  });

  it('[UP-243] means the same after its echo: what comes down is what was dispatched', () => {
    const chosen = new ModelHost(sessionState({ summary: sessionSummary({ model: { id: 'old' } }) }));
    const model = { id: 'new', config: { effort: 'low' } };
    chosen.apply({ type: 'session/modelChanged', model }, 5);
    expect(chosen.mirror.summary.model).toEqual(model);
    expect(chosen.shown.summary.model).toEqual(model);
  });
});
