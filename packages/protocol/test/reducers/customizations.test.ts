import { describe, expect, it } from 'vitest';
import type { Customization } from '../../src/session/customizations.js';
import { plugin, reduceSession, sessionState, skill } from '../support/builders.js';

const withList = (...customizations: Customization[]) => sessionState({ customizations });

describe('the list of customizations', () => {
  it('[ACT-034] is replaced as a whole', () => {
    const state = withList(plugin('old'));
    const customizations = [plugin('new')];
    const result = reduceSession(state, { type: 'session/customizationsChanged', customizations });
    expect(result).toStrictEqual({ ...state, customizations });
    expect(reduceSession(result, { type: 'session/customizationsChanged', customizations })).toBe(result);
  });
});

describe('a customization is switched', () => {
  const toggle = (id: string, enabled: boolean) => ({ type: 'session/customizationToggled', id, enabled }) as const;

  it('[ACT-035] off, and nothing else of it or of its neighbours changes', () => {
    const state = withList(plugin('a'), plugin('b', { children: [skill('s')] }));
    const result = reduceSession(state, toggle('b', false));
    expect(result).toStrictEqual({
      ...state,
      customizations: [plugin('a'), plugin('b', { children: [skill('s')], enabled: false })],
    });
    expect(result.customizations?.[0]).toBe(state.customizations?.[0]);
    expect(result.customizations?.[1]?.children).toBe(state.customizations?.[1]?.children);
  });

  it('[ACT-035] only once where two have the id', () => {
    const result = reduceSession(withList(plugin('a'), plugin('a')), toggle('a', false));
    expect(result.customizations).toStrictEqual([plugin('a', { enabled: false }), plugin('a')]);
  });

  it('[ACT-035] to what it was: the very same state', () => {
    const state = withList(plugin('a'));
    expect(reduceSession(state, toggle('a', true))).toBe(state);
  });

  it('[ACT-035] though it is a child, unknown, or there is no list: nothing happens', () => {
    const state = withList(plugin('a', { children: [skill('s')] }));
    expect(reduceSession(state, toggle('s', false))).toBe(state);
    expect(reduceSession(state, toggle('z', false))).toBe(state);
    const bare = sessionState();
    expect(reduceSession(bare, toggle('a', false))).toBe(bare);
  });
});

describe('a customization comes anew', () => {
  const update = (customization: Customization) => ({ type: 'session/customizationUpdated', customization }) as const;

  it('[ACT-036] in the place of the first with its id, children and all', () => {
    const state = withList(plugin('a'), plugin('b', { children: [skill('s')], clientId: 'desk' }), plugin('b'));
    const result = reduceSession(state, update(plugin('b', { enabled: false })));
    expect(result.customizations).toStrictEqual([plugin('a'), plugin('b', { enabled: false }), plugin('b')]);
    expect(result.customizations?.[0]).toBe(state.customizations?.[0]);
  });

  it('[ACT-036] at the end when its id is new, even if a child has it', () => {
    const parent = plugin('a', { children: [skill('s')] });
    const result = reduceSession(withList(parent), update(plugin('s')));
    expect(result.customizations).toStrictEqual([parent, plugin('s')]);
  });

  it('[ACT-036] as the first of a list that was not there', () => {
    const state = sessionState();
    expect(reduceSession(state, update(plugin('a')))).toStrictEqual({ ...state, customizations: [plugin('a')] });
  });
});

describe('a customization goes', () => {
  const remove = (id: string) => ({ type: 'session/customizationRemoved', id }) as const;

  it('[ACT-037] with its children, the first of its id, and children of that id elsewhere stay', () => {
    const other = plugin('other', { children: [skill('a')] });
    const state = withList(other, plugin('a', { children: [skill('s')] }), plugin('a'));
    expect(reduceSession(state, remove('a'))).toStrictEqual({ ...state, customizations: [other, plugin('a')] });
  });

  it('[ACT-037] as the last one: an empty list stays', () => {
    expect(reduceSession(withList(plugin('a')), remove('a')).customizations).toStrictEqual([]);
  });

  it('[ACT-037] as a child out of every container, once in each', () => {
    const state = withList(
      plugin('a', { children: [skill('s'), skill('t'), skill('s')] }),
      plugin('b'),
      plugin('c', { children: [skill('s')] }),
      plugin('d', { children: [skill('t')] }),
    );
    const result = reduceSession(state, remove('s'));
    expect(result.customizations).toStrictEqual([
      plugin('a', { children: [skill('t'), skill('s')] }),
      plugin('b'),
      plugin('c', { children: [] }),
      plugin('d', { children: [skill('t')] }),
    ]);
    expect(result.customizations?.[1]).toBe(state.customizations?.[1]);
    expect(result.customizations?.[3]).toBe(state.customizations?.[3]);
  });

  it('[ACT-037] though it is unknown or there is no list: nothing happens', () => {
    const state = withList(plugin('a', { children: [skill('s')] }));
    expect(reduceSession(state, remove('z'))).toBe(state);
    const bare = sessionState();
    expect(reduceSession(bare, remove('a'))).toBe(bare);
  });
});
