/** The customizations of a session, and the MCP servers among them. */
import { describe, expect, it } from 'vitest';
import type { Customization, DirectoryCustomization, SessionAction } from '../../../src/ahp-1/index.js';
import { isChildEnabled, isCustomizationEnabled } from '../../../src/ahp-1/index.js';
import { plugin, reduceSession, server, sessionState, skill } from '../support/builders.js';

const session = (...customizations: Customization[]) => sessionState({ customizations });
const off = [{ kind: 'session', enabled: false }] as const;
const toggle = (id: string, enablement: readonly { kind: 'session'; enabled: boolean }[]): SessionAction => ({
  type: 'session/customizationToggled',
  id,
  enablement: [...enablement],
});
const directory = (children: DirectoryCustomization['children'] = []): DirectoryCustomization => ({
  type: 'directory',
  id: 'folder',
  uri: 'file:///skills',
  name: 'skills',
  enabled: true,
  contents: 'skill',
  writable: true,
  children,
});

describe('a customization is switched', () => {
  it.each([plugin('one'), server('one')])('[UP-102] $type: its decisions are replaced', (entry) => {
    const state = session(plugin('other'), entry);
    const result = reduceSession(state, toggle('one', off));
    expect(result.customizations).toStrictEqual([plugin('other'), { ...entry, enablement: off }]);
    expect(result.customizations?.[0]).toBe(state.customizations?.[0]);
    expect(reduceSession(result, toggle('one', [])).customizations).toStrictEqual([plugin('other'), entry]);
    expect(reduceSession(state, toggle('one', []))).toBe(state);
  });

  it('[UP-102] a directory has a flag: the first decision counts, and none means on', () => {
    const state = session(directory());
    const result = reduceSession(state, toggle('folder', off));
    expect(result.customizations).toStrictEqual([{ ...directory(), enabled: false }]);
    expect(reduceSession(result, toggle('folder', [])).customizations).toStrictEqual([directory()]);
    expect(reduceSession(state, toggle('folder', [{ kind: 'session', enabled: true }]))).toBe(state);
  });

  it('[UP-102] a child of any container is found, and its siblings stay', () => {
    const state = session(plugin('p', { children: [skill('a'), server('s')] }), directory([skill('b')]));
    const result = reduceSession(state, toggle('b', off), toggle('s', off));
    expect(result.customizations).toStrictEqual([
      plugin('p', { children: [skill('a'), server('s', { enablement: [...off] })] }),
      directory([skill('b', { enabled: false })]),
    ]);
    expect(result.customizations?.[0]).not.toBe(state.customizations?.[0]);
  });

  it('[UP-102] an entry at the top goes before a child of the same id', () => {
    const state = session(plugin('p', { children: [skill('twin')] }), plugin('twin'));
    const result = reduceSession(state, toggle('twin', off));
    expect(result.customizations?.[0]).toBe(state.customizations?.[0]);
    expect(result.customizations?.[1]).toHaveProperty('enablement', off);
  });

  it('[UP-102] nothing happens for an unknown id, without a list, and inside an MCP server', () => {
    const strange = { ...server('s'), children: [skill('inside')] } as Customization;
    const unread = { type: 'later', id: 'l', children: 'none' } as unknown as Customization;
    for (const state of [
      session(plugin('p')),
      session(plugin('p', { children: [] })),
      session(strange, unread),
      sessionState(),
    ])
      expect(reduceSession(state, toggle('inside', off))).toBe(state);
  });
});

describe('whether a customization is on', () => {
  const session = (enabled: boolean) => ({ kind: 'session', enabled }) as const;
  const global = (enabled: boolean) => ({ kind: 'global', enabled }) as const;

  it.each([plugin, server])('[UP-068] the most specific decision counts, and none means on', (make) => {
    expect(isCustomizationEnabled(make('p'))).toBe(true);
    expect(isCustomizationEnabled(make('p', { enablement: [] }))).toBe(true);
    expect(isCustomizationEnabled(make('p', { enablement: [session(false), global(true)] }))).toBe(false);
    expect(isCustomizationEnabled(make('p', { enablement: [session(true), global(false)] }))).toBe(true);
  });

  it('[UP-069] a child needs its container, too', () => {
    const off = plugin('p', { enablement: [global(false)] });
    expect(isChildEnabled(plugin('p'), skill('a'))).toBe(true);
    expect(isChildEnabled(plugin('p'), skill('a', { enabled: false }))).toBe(false);
    expect(isChildEnabled(off, skill('a', { enabled: true }))).toBe(false);
    expect(isChildEnabled(directory(), skill('a'))).toBe(true);
    expect(isChildEnabled({ ...directory(), enabled: false }, skill('a'))).toBe(false);
  });
});

describe('the list of customizations', () => {
  it('[UP-103] is replaced as a whole', () => {
    const customizations = [plugin('p')];
    const result = reduceSession(sessionState(), { type: 'session/customizationsChanged', customizations });
    expect(result.customizations).toBe(customizations);
    expect(reduceSession(result, { type: 'session/customizationsChanged', customizations })).toBe(result);
  });

  it('[UP-103] gets one entry replaced in its place, or appended, also when there was no list', () => {
    const updated = plugin('p', { children: [] });
    const update = { type: 'session/customizationUpdated', customization: updated } as const;
    expect(reduceSession(sessionState(), update).customizations).toEqual([updated]);
    const state = session(plugin('p'), server('s'));
    expect(reduceSession(state, update).customizations).toEqual([updated, server('s')]);
  });

  it('[UP-103] loses an entry; failing that, the children of that id in every container', () => {
    const state = session(
      plugin('p', { children: [skill('a'), skill('b')] }),
      directory([skill('a')]),
      plugin('q', { children: [skill('b')] }),
    );
    const childless = reduceSession(state, { type: 'session/customizationRemoved', id: 'a' });
    expect(childless.customizations).toStrictEqual([
      plugin('p', { children: [skill('b')] }),
      directory([]),
      plugin('q', { children: [skill('b')] }),
    ]);
    expect(childless.customizations?.[2]).toBe(state.customizations?.[2]);
    const fewer = reduceSession(state, { type: 'session/customizationRemoved', id: 'p' });
    expect(fewer.customizations).toEqual(state.customizations?.slice(1));
  });

  it('[UP-103] does not change when nothing has the id, nor without a list', () => {
    for (const state of [session(plugin('p'), server('s')), sessionState()])
      expect(reduceSession(state, { type: 'session/customizationRemoved', id: 'gone' })).toBe(state);
  });
});

describe('an MCP server', () => {
  const failed = { kind: 'error', error: { errorType: 'exit', message: 'Exit 1' } } as const;

  it('[UP-104] gets a new state and channel, at the top or inside a plugin', () => {
    const inner = server('inner', { channel: 'mcp:/old' });
    const state = session(server('s', { channel: 'mcp:/old' }), plugin('p', { children: [inner] }));
    const result = reduceSession(
      state,
      { type: 'session/mcpServerStateChanged', id: 's', state: failed },
      { type: 'session/mcpServerStateChanged', id: 'inner', state: { kind: 'ready' }, channel: 'mcp:/new' },
    );
    expect(result.customizations).toStrictEqual([
      server('s', { state: failed }),
      plugin('p', { children: [server('inner', { channel: 'mcp:/new' })] }),
    ]);
  });

  it('[UP-104] is not what another customization of that id is', () => {
    const state = session(plugin('p', { children: [skill('a')] }));
    for (const id of ['p', 'a', 'gone'])
      expect(reduceSession(state, { type: 'session/mcpServerStateChanged', id, state: failed })).toBe(state);
  });

  it('[UP-105] is asked to start or stop, and loses its channel', () => {
    const state = session(server('s', { channel: 'mcp:/one' }));
    const stopped = reduceSession(state, { type: 'session/mcpServerStopRequested', id: 's' });
    expect(stopped.customizations).toStrictEqual([server('s', { state: { kind: 'stopped' } })]);
    const started = reduceSession(stopped, { type: 'session/mcpServerStartRequested', id: 's' });
    expect(started.customizations).toStrictEqual([server('s', { state: { kind: 'starting' } })]);
    expect(reduceSession(state, { type: 'session/mcpServerStartRequested', id: 'gone' })).toBe(state);
  });

  it('[UP-106] goes on starting in the background, only while it blocks', () => {
    const background = { type: 'session/mcpServerBackgroundRequested', id: 's' } as const;
    const state = session(server('s', { state: { kind: 'starting', blocking: true }, channel: 'mcp:/one' }));
    const result = reduceSession(state, background);
    expect(result.customizations).toStrictEqual([
      server('s', { state: { kind: 'starting', blocking: false }, channel: 'mcp:/one' }),
    ]);
    for (const other of [
      result,
      session(server('s')),
      session(server('s', { state: { kind: 'starting' } })),
      session(plugin('s')),
    ])
      expect(reduceSession(other, background)).toBe(other);
  });
});
