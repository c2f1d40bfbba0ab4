import { describe, expect, it } from 'vitest';
import type { SessionState } from '../../src/session/state.js';
import { NOW, reduceSession, sessionState } from '../support/builders.js';

const config = (values: Record<string, unknown>): SessionState['config'] => ({
  schema: { type: 'object', properties: { mode: { type: 'string', title: 'Mode', sessionMutable: true } } },
  values,
});

describe('session configuration', () => {
  it('[ACT-043] merges values one level deep, keeps the schema, and moves the time on', () => {
    const state = sessionState({ config: config({ mode: 'plan', limits: { steps: 3, cost: 1 } }) });
    const result = reduceSession(state, { type: 'session/configChanged', config: { limits: { steps: 5 } } });
    expect(result).toStrictEqual({
      ...state,
      config: config({ mode: 'plan', limits: { steps: 5 } }),
      summary: { ...state.summary, modifiedAt: NOW },
    });
    expect(result.config?.schema).toBe(state.config?.schema);
  });

  it('[ACT-043] replaces all values when told to', () => {
    const state = sessionState({ config: config({ mode: 'plan' }) });
    const result = reduceSession(state, { type: 'session/configChanged', config: { depth: 1 }, replace: true });
    expect(result.config?.values).toStrictEqual({ depth: 1 });
  });

  it('[ACT-043] shares the values when none of them changes', () => {
    const state = sessionState({ config: config({ mode: 'plan' }) });
    const result = reduceSession(state, { type: 'session/configChanged', config: { mode: 'plan' } });
    expect(result.config?.values).toBe(state.config?.values);
    expect(result.summary.modifiedAt).toBe(NOW);
  });

  it('[ACT-043] does nothing without a configuration, not even to the time', () => {
    const state = sessionState();
    expect(reduceSession(state, { type: 'session/configChanged', config: { mode: 'plan' } })).toBe(state);
  });

  it.each([true, false])('[ACT-043] keeps the key __proto__ an ordinary one (replace: %s)', (replace) => {
    const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    const state = sessionState({ config: config({}) });
    const result = reduceSession(state, { type: 'session/configChanged', config: hostile, replace });
    const values = result.config?.values ?? {};
    expect(Object.keys(values)).toStrictEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
    expect(values.polluted).toBeUndefined();
  });
});

describe('session metadata', () => {
  it('[ACT-044] is replaced as a whole', () => {
    const state = sessionState({ _meta: { branch: 'main', dirty: true } });
    const result = reduceSession(state, { type: 'session/metaChanged', _meta: { branch: 'next' } });
    expect(result).toStrictEqual({ ...state, _meta: { branch: 'next' } });
    expect(result.summary).toBe(state.summary);
  });

  it('[ACT-044] is taken away; the key stays', () => {
    const state = sessionState();
    const result = reduceSession(state, { type: 'session/metaChanged', _meta: undefined });
    expect(result).toStrictEqual({ ...state, _meta: undefined });
    expect(reduceSession(result, { type: 'session/metaChanged' })).toBe(result);
  });
});

describe('tools and the active client', () => {
  const tools = [{ name: 'search' }];

  it('[ACT-025] replaces the tools of the host', () => {
    const state = sessionState({ serverTools: [{ name: 'old' }] });
    const result = reduceSession(state, { type: 'session/serverToolsChanged', tools });
    expect(result).toStrictEqual({ ...state, serverTools: tools });
    expect(reduceSession(result, { type: 'session/serverToolsChanged', tools })).toBe(result);
  });

  it('[ACT-026] lets a client in, whole, with members that nobody knows', () => {
    const activeClient = { clientId: 'desk', tools, mood: 'bright' };
    const state = sessionState({ activeClient: { clientId: 'phone', displayName: 'Phone', tools: [] } });
    const result = reduceSession(state, { type: 'session/activeClientChanged', activeClient });
    expect(result).toStrictEqual({ ...state, activeClient });
    expect(result.activeClient).toBe(activeClient);
    expect(reduceSession(result, { type: 'session/activeClientChanged', activeClient })).toBe(result);
    expect(result.summary).toBe(state.summary);
  });

  it.each([null, undefined])('[ACT-026] lets the client go on %s; the key stays', (activeClient) => {
    const state = sessionState({ activeClient: { clientId: 'desk', tools } });
    const result = reduceSession(state, { type: 'session/activeClientChanged', activeClient });
    expect(result).toStrictEqual({ ...state, activeClient: undefined });
  });

  it('[ACT-027] replaces the tools of the active client and keeps the rest of it', () => {
    const state = sessionState({ activeClient: { clientId: 'desk', displayName: 'Desk', tools: [] } });
    const result = reduceSession(state, { type: 'session/activeClientToolsChanged', tools });
    expect(result).toStrictEqual({ ...state, activeClient: { clientId: 'desk', displayName: 'Desk', tools } });
    expect(reduceSession(result, { type: 'session/activeClientToolsChanged', tools })).toBe(result);
  });

  it('[ACT-027] does nothing without an active client', () => {
    const state = sessionState();
    expect(reduceSession(state, { type: 'session/activeClientToolsChanged', tools })).toBe(state);
  });
});
