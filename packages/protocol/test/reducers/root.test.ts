import { describe, expect, it } from 'vitest';
import type { RootState } from '../../src/root/state.js';
import { reduceRoot, rootState } from '../support/builders.js';

const echo = { provider: 'echo', displayName: 'Echo', description: 'Says it again', models: [] };

const config = (values: Record<string, unknown>): RootState['config'] => ({
  schema: { type: 'object', properties: { theme: { type: 'string', title: 'Theme' } } },
  values,
});

describe('root state', () => {
  it('[ACT-001] replaces the agents and keeps everything else', () => {
    const state = rootState({ agents: [{ ...echo, provider: 'old' }], activeSessions: 2 });
    const agents = [echo];
    const result = reduceRoot(state, { type: 'root/agentsChanged', agents });
    expect(result).toStrictEqual({ agents: [echo], activeSessions: 2 });
    expect(reduceRoot(result, { type: 'root/agentsChanged', agents })).toBe(result);
  });

  it('[ACT-002] counts the active sessions, also down to none', () => {
    const result = reduceRoot(rootState({ activeSessions: 2 }), {
      type: 'root/activeSessionsChanged',
      activeSessions: 0,
    });
    expect(result).toStrictEqual({ agents: [], activeSessions: 0 });
  });

  it('[ACT-002] returns the very same state when the count stays', () => {
    const state = rootState({ activeSessions: 2 });
    expect(reduceRoot(state, { type: 'root/activeSessionsChanged', activeSessions: 2 })).toBe(state);
  });

  it('[ACT-003] replaces the catalogue of terminals, also when there was none', () => {
    const terminals = [
      { resource: 'ahp-terminal:/t1', title: 'Build', claim: { kind: 'client' as const, clientId: 'desk' } },
    ];
    const result = reduceRoot(rootState(), { type: 'root/terminalsChanged', terminals });
    expect(result).toStrictEqual({ agents: [], terminals });
    expect(reduceRoot(result, { type: 'root/terminalsChanged', terminals })).toBe(result);
  });
});

describe('host configuration', () => {
  it('[ACT-004] merges values one level deep and keeps the schema', () => {
    const state = rootState({ config: config({ theme: 'dark', editor: { tabs: 2, wrap: true } }) });
    const result = reduceRoot(state, { type: 'root/configChanged', config: { editor: { tabs: 4 }, font: 'mono' } });
    expect(result.config?.values).toStrictEqual({ theme: 'dark', editor: { tabs: 4 }, font: 'mono' });
    expect(result.config?.schema).toBe(state.config?.schema);
    expect(result.agents).toBe(state.agents);
  });

  it('[ACT-004] replaces all values with a copy when told to', () => {
    const state = rootState({ config: config({ theme: 'dark' }) });
    const values = { font: 'mono' };
    const result = reduceRoot(state, { type: 'root/configChanged', config: values, replace: true });
    expect(result.config?.values).toStrictEqual({ font: 'mono' });
    expect(result.config?.values).not.toBe(values);
  });

  it('[ACT-004] merges when replace is false', () => {
    const state = rootState({ config: config({ theme: 'dark' }) });
    const result = reduceRoot(state, { type: 'root/configChanged', config: { font: 'mono' }, replace: false });
    expect(result.config?.values).toStrictEqual({ theme: 'dark', font: 'mono' });
  });

  it('[ACT-004] does nothing when there is no configuration', () => {
    const state = rootState();
    expect(reduceRoot(state, { type: 'root/configChanged', config: { theme: 'dark' }, replace: true })).toBe(state);
  });

  it.each([true, false])('[ACT-004] keeps the key __proto__ an ordinary one (replace: %s)', (replace) => {
    const hostile = JSON.parse('{"__proto__":{"polluted":true}}');
    const state = rootState({ config: config({}) });
    const values = reduceRoot(state, { type: 'root/configChanged', config: hostile, replace }).config?.values ?? {};
    expect(Object.keys(values)).toStrictEqual(['__proto__']);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
    expect(values.polluted).toBeUndefined();
  });
});
