/** Which actions of clients a session accepts, case by case, and what follows from an accepted one. */
import {
  PRIVATE,
  SELECTION_CHANGED,
  type SessionAction,
  type SessionState,
  type StateAction,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { CHOICE_MAX_CHARACTERS, GIVEN_TITLE_MAX_CHARACTERS, SESSION_FOLDERS_MAX } from '../../src/sessions/limits.js';
import {
  containerOfToggled,
  type DispatchedAction,
  mustWait,
  sessionRefusal,
} from '../../src/sessions/session-rules.js';

interface Around {
  readonly clientId?: string;
  readonly agent?: object;
}

const why = (action: object, state: object = {}, { clientId = 'c', agent }: Around = {}) =>
  sessionRefusal(action as StateAction, {
    ...{ state: { activeClients: [], ...state } as unknown as SessionState, clientId, agent: agent as never },
  });

describe('a turn', () => {
  it('keeps its model and its agent', () => {
    expect(mustWait({ type: SELECTION_CHANGED })).toBe(true);
    expect(mustWait({ type: 'session/titleChanged' } as DispatchedAction)).toBe(false);
  });
});

describe('a title', () => {
  it('[REL-098] has a greatest length', () => {
    const titled = (length: number) => why({ type: 'session/titleChanged', title: 'x'.repeat(length) });
    expect(titled(GIVEN_TITLE_MAX_CHARACTERS)).toBeUndefined();
    expect(titled(GIVEN_TITLE_MAX_CHARACTERS + 1)).toMatch(/a title may have/);
  });
});

describe('the configuration of a session', () => {
  const schema = {
    properties: {
      free: { type: 'string', title: 'Free', sessionMutable: true },
      fixed: { type: 'string', title: 'Fixed' },
    },
  };
  const state = { config: { schema, values: { fixed: 'f', free: 'x' } } };
  const changed = (config: object, replace?: boolean, in_: object = state) =>
    why({ type: 'session/configChanged', config, ...(replace !== undefined && { replace }) }, in_);

  it('is changed where that is allowed, with what fits', () => {
    expect([changed({ free: 'y' }), changed({ fixed: 'f' }), changed({})]).toEqual([undefined, undefined, undefined]);
    expect(changed({ fixed: 'g' })).toBe('fixed cannot be changed any more');
    expect(changed({ other: 1 })).toBe('there is no property other');
    expect(changed({ toString: 1 })).toBe('there is no property toString');
    expect(changed({ free: 7 })).toMatch(/^free must be /);
    expect(changed({}, undefined, {})).toBe('this session has no configuration');
  });

  it('is replaced with what cannot be changed in it', () => {
    expect(changed({ fixed: 'f' }, true)).toBeUndefined();
    expect(changed({ free: 'y' }, true)).toBe('fixed cannot be removed');
    expect(changed({ free: 'y' }, false)).toBeUndefined();
  });

  it('[REL-098] names models and agents of a bounded length', () => {
    for (const name of ['model', 'agent']) {
      const chosen = (length: number) => why({ type: SELECTION_CHANGED, [name]: { uri: 'x'.repeat(length) } });
      const room = CHOICE_MAX_CHARACTERS - JSON.stringify({ uri: '' }).length;
      expect([chosen(room), why({ type: SELECTION_CHANGED })]).toEqual([undefined, undefined]);
      expect(chosen(room + 1)).toMatch(new RegExp(`^${name} may have`));
    }
    expect(why({ type: SELECTION_CHANGED, agent: null })).toBeUndefined();
  });
});

describe('the folders of a session', () => {
  const several = (more: object = {}) => ({ agent: { capabilities: { multipleWorkingDirectories: more } } });
  const workingDirectories = ['file:///a', 'file:///b'];

  it('begin with one that some agents keep [UP-161]', () => {
    const removed = (directory: string, more: object) =>
      why({ type: 'session/workingDirectoryRemoved', directory }, { workingDirectories }, several(more));
    expect(removed('file:///a', { immutablePrimary: true })).toMatch(/cannot be removed$/);
    expect([removed('file:///a', {}), removed('file:///b', { immutablePrimary: true })]).toEqual([
      undefined,
      undefined,
    ]);
    const replaced = (directory: string, more: object) =>
      why(
        { type: 'session/workingDirectoryReplaced', directory, replacement: 'file:///c' },
        { workingDirectories },
        several(more),
      );
    expect(replaced('file:///a', {})).toMatch(/cannot be replaced$/);
    expect([replaced('file:///b', {}), replaced('file:///a', { primaryReplacement: true })]).toEqual(
      Array(2).fill(undefined),
    );
  });

  it(`[REL-098] are ${SESSION_FOLDERS_MAX} at most`, () => {
    const set = (length: number) => {
      const state = { workingDirectories: Array.from({ length }, (_, index) => `file:///${index}`) };
      return why({ type: 'session/workingDirectorySet', directory: 'file:///a' }, state, several());
    };
    expect(set(SESSION_FOLDERS_MAX - 1)).toBeUndefined();
    expect(set(SESSION_FOLDERS_MAX)).toMatch(/at most$/);
  });

  it.each(['session/workingDirectorySet', 'session/workingDirectoryRemoved', 'session/workingDirectoryReplaced'])(
    '%s is for agents that work in several',
    (type) => {
      const action = { type, directory: 'file:///a', replacement: 'file:///b' };
      expect(why(action, {}, several())).toBeUndefined();
      for (const agent of [undefined, {}, { capabilities: {} }])
        expect(why(action, {}, agent && { agent })).toBe('the agent of this session works in one folder');
    },
  );
});

describe('customizations', () => {
  const off = (kind: string) => ({ kind, enabled: false });
  const plugin = (id: string, isOn: boolean, ...children: object[]) => ({
    ...{ type: 'plugin', id, name: id, children, ...(!isOn && { enablement: [off('session')] }) },
  });
  const agent = { id: 'a', type: 'agent', uri: 'agent:/a' };
  const server = { id: 's', name: 'server', type: 'mcpServer', state: { kind: 'stopped' } };

  it('that are switched off lend no agent', () => {
    const chosen = (customizations: object[] | undefined, uri = 'agent:/a') =>
      why({ type: SELECTION_CHANGED, agent: { uri } }, { customizations });
    expect(chosen([plugin('p', false, agent)])).toBe('this agent belongs to p, which is switched off');
    expect(chosen([plugin('p', false, agent), plugin('o', true, agent)])).toBeUndefined();
    expect(chosen([plugin('p', false, agent)], 'agent:/b')).toBeUndefined();
    expect(chosen([plugin('p', false, { ...agent, type: 'skill' })])).toBeUndefined();
    expect([chosen(undefined), chosen([{ id: 'p' }])]).toEqual([undefined, undefined]);
    const folder = { type: 'directory', id: 'd', name: 'd', enabled: false, children: [agent] };
    expect(chosen([folder])).toBe('this agent belongs to d, which is switched off');
    const offAgent = { ...agent, name: 'A', enabled: false };
    expect(chosen([plugin('p', true, offAgent)])).toBe('the agent A is switched off');
    expect(chosen([plugin('p', true, offAgent), plugin('o', true, agent)])).toBeUndefined();
  });

  it('are switched by their id, and what is inside of them [UP-102]', () => {
    const toggled = (id: string, customizations?: object[]) =>
      why({ type: 'session/customizationToggled', id, enablement: [off('session')] }, { customizations });
    const all = [plugin('p', true, server, agent), { id: 'q' }];
    expect(['p', 's', 'a', 'q'].map((id) => toggled(id, all))).toEqual(Array(4).fill(undefined));
    expect([toggled('x', all), toggled('p')]).toEqual(['there is no customization x', 'there is no customization p']);
    const sized = (characters: number) => {
      const empty = { kind: 'workspace', workspace: '', enabled: true };
      const workspace = 'x'.repeat(characters - JSON.stringify([empty]).length);
      const action = { type: 'session/customizationToggled', id: 'p', enablement: [{ ...empty, workspace }] };
      return why(action, { customizations: all });
    };
    expect(sized(CHOICE_MAX_CHARACTERS)).toBeUndefined();
    expect(sized(CHOICE_MAX_CHARACTERS + 1)).toMatch(/enablement may have/);
  });

  it('are published as a whole when a server inside is switched: older wires know containers only', () => {
    const container = (id: string, customizations?: object[]) =>
      containerOfToggled({ type: 'session/customizationToggled', id, enablement: [] }, {
        customizations,
      } as unknown as SessionState);
    const holder = plugin('p', true, server, agent);
    expect(container('s', [{ id: 'q' }, plugin('o', true, agent), holder])).toBe(holder);
    expect(container('p', [holder])).toBeUndefined();
    expect(container('s', [holder, { id: 's' }])).toBeUndefined();
    expect([container('s', [{ id: 'q' }]), container('s')]).toEqual([undefined, undefined]);
    const other = { type: 'session/customizationRemoved', id: 's' } as SessionAction;
    expect(containerOfToggled(other, { customizations: [holder] } as unknown as SessionState)).toBeUndefined();
  });

  it('have servers that people start, stop, and do not wait for [UP-105]', () => {
    const ask = (what: string, id: string, customizations?: object[]) =>
      why({ type: `session/mcpServer${what}Requested`, id }, { customizations });
    for (const what of ['Start', 'Stop']) {
      expect(ask(what, 's', [server])).toBeUndefined();
      expect(ask(what, 's', [plugin('p', true, server)])).toBeUndefined();
      expect([ask(what, 's'), ask(what, 's', [{ ...server, type: 'plugin' }]), ask(what, 'x', [server])]).toEqual(
        ['s', 's', 'x'].map((id) => `there is no MCP server ${id}`),
      );
    }
    const isOff = 'server is switched off: switch it on first';
    expect(ask('Start', 's', [plugin('p', false, server)])).toBe(isOff);
    expect(ask('Start', 's', [{ ...server, enablement: [off('session')] }])).toBe(isOff);
    expect(ask('Stop', 's', [plugin('p', false, server)])).toBeUndefined();
    const inState = (state: object) => [plugin('p', true, { ...server, state })];
    expect(ask('Background', 's', inState({ kind: 'starting', blocking: true }))).toBeUndefined();
    for (const state of [{ kind: 'starting' }, { kind: 'ready', blocking: true }])
      expect(ask('Background', 's', inState(state))).toBe('nothing waits for an MCP server s');
  });
});

describe('the role of active client', () => {
  const held = (...clientIds: string[]) => ({ activeClients: clientIds.map((clientId) => ({ clientId, tools: [] })) });
  /** Older wires know one active client: their actions carry the private member. */
  const OLDER = { [PRIVATE]: {} };
  const set = (clientId: string, holders: string[] = [], mark: object = {}) =>
    why({ type: 'session/activeClientSet', activeClient: { clientId, tools: [] }, ...mark }, held(...holders));
  const removed = (clientId: string, holders: string[] = [], mark: object = {}) =>
    why({ type: 'session/activeClientRemoved', clientId, ...mark }, held(...holders));

  it('is taken by oneself, and several may have it [UP-170]', () => {
    expect([set('c'), set('c', ['c']), set('c', ['d']), set('c', ['c', 'd'])]).toEqual(Array(4).fill(undefined));
    expect([set('d'), set('d', ['d'])]).toEqual(Array(2).fill('a client can claim the role only for itself'));
  });

  it('is given up by oneself', () => {
    expect([removed('c', ['c']), removed('c', ['c', 'd']), removed('c')]).toEqual(Array(3).fill(undefined));
    expect(removed('d', ['c', 'd'])).toBe('a client can give up the role only for itself');
  });

  it('is taken on older wires when the one that they show is oneself, or none', () => {
    expect([set('c', [], OLDER), set('c', ['c'], OLDER), set('c', ['d', 'c'], OLDER)]).toEqual(
      Array(3).fill(undefined),
    );
    expect([set('c', ['d'], OLDER), set('c', ['c', 'd'], OLDER)]).toEqual(Array(2).fill('d is the active client'));
    expect(set('d', [], OLDER)).toBe('a client can claim the role only for itself');
  });

  it('is given up on older wires by a holder', () => {
    expect([removed('c', ['c'], OLDER), removed('c', ['c', 'd'], OLDER)]).toEqual([undefined, undefined]);
    expect([removed('c', ['d'], OLDER), removed('c', [], OLDER)]).toEqual(
      Array(2).fill('only the active client can give the role up'),
    );
    expect(removed('d', ['d'], OLDER)).toBe('a client can give up the role only for itself');
  });
});

describe('an action without a rule', () => {
  it('is accepted', () => {
    expect(why({ type: 'session/isReadChanged' })).toBeUndefined();
  });
});
