import { describe, expect, it } from 'vitest';
import { changesetReducer } from '../../src/changeset/reducer.js';
import { reducerOf, withElement, withMembers, withoutMember } from '../../src/reducing.js';
import { resourceWatchReducer } from '../../src/resource-watch/reducer.js';
import { rootReducer } from '../../src/root/reducer.js';
import { sessionReducer } from '../../src/session/reducer.js';
import { terminalReducer } from '../../src/terminal/reducer.js';
import { changesetState, NOW, rootState, terminalState, withTurn } from '../support/builders.js';
import { deepFreeze } from '../support/fixtures.js';

const context = { now: NOW };

describe('an action of a type that nobody knows', () => {
  const types = ['session/teleported', 'constructor', '__proto__', 'toString', 'hasOwnProperty', ''];

  it.each(types)('leaves the state of every channel as it is: %j', (type) => {
    const root = deepFreeze(rootState());
    const session = deepFreeze(withTurn());
    const terminal = deepFreeze(terminalState());
    const changeset = deepFreeze(changesetState());
    const watch = deepFreeze({ root: 'file:///srv', recursive: true });
    expect(rootReducer(root, { type }, context)).toBe(root);
    expect(sessionReducer(session, { type }, context)).toBe(session);
    expect(terminalReducer(terminal, { type }, context)).toBe(terminal);
    expect(changesetReducer(changeset, { type }, context)).toBe(changeset);
    expect(resourceWatchReducer(watch, { type }, context)).toBe(watch);
  });

  it('belongs to another channel, and is ignored there too', () => {
    const terminal = deepFreeze(terminalState());
    expect(terminalReducer(terminal, { type: 'session/ready' }, context)).toBe(terminal);
  });
});

describe('reducerOf', () => {
  type Actions = { add: { type: 'add'; by: number }; stamp: { type: 'stamp' } };
  const reduce = reducerOf<{ total: number }, Actions>({
    add: ({ total }, { by }) => ({ total: total + by }),
    stamp: (_state, _action, { now }) => ({ total: now }),
  });

  it('calls the handler of the type of the action', () => {
    expect(reduce({ total: 1 }, { type: 'add', by: 2 }, context)).toStrictEqual({ total: 3 });
  });

  it('hands the time of the action on', () => {
    expect(reduce({ total: 1 }, { type: 'stamp' }, context)).toStrictEqual({ total: NOW });
  });
});

describe('withMembers', () => {
  const target = deepFreeze<{ a?: number | undefined; b?: string }>({ a: 1, b: 'x' });

  it('sets members on a copy', () => {
    expect(withMembers(target, { a: 2 })).toStrictEqual({ a: 2, b: 'x' });
    expect(target.a).toBe(1);
  });

  it('returns the very same object when all values are there already', () => {
    expect(withMembers(target, { a: 1, b: 'x' })).toBe(target);
    expect(withMembers(target, {})).toBe(target);
  });

  it('tells NaN from other numbers, and a key that holds undefined from a missing key', () => {
    const odd = deepFreeze<{ n: number; gone?: undefined }>({ n: Number.NaN });
    expect(withMembers(odd, { n: Number.NaN })).toBe(odd);
    expect(withMembers(odd, { gone: undefined })).toStrictEqual({ n: Number.NaN, gone: undefined });
  });

  it('does not take inherited members for its own', () => {
    const plain: Record<string, unknown> = {};
    const result = withMembers(plain, { toString: Object.prototype.toString });
    expect(Object.keys(result)).toStrictEqual(['toString']);
  });

  it('keeps __proto__ an ordinary key', () => {
    const hostile: Record<string, unknown> = JSON.parse('{"__proto__":{"polluted":true}}');
    const result = withMembers<Record<string, unknown>>({ a: 1 }, hostile);
    expect(Object.keys(result)).toStrictEqual(['a', '__proto__']);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(result.polluted).toBeUndefined();
  });
});

describe('withoutMember', () => {
  it('removes the key from a copy', () => {
    const target = deepFreeze({ a: 1, b: 2 });
    expect(withoutMember(target, 'a')).toStrictEqual({ b: 2 });
  });

  it('removes a key that holds undefined', () => {
    const target = deepFreeze<{ a?: number | undefined; b: number }>({ a: undefined, b: 2 });
    expect(withoutMember(target, 'a')).toStrictEqual({ b: 2 });
  });

  it('returns the very same object when it has no such key of its own', () => {
    const target = deepFreeze<Record<string, number>>({ b: 2 });
    expect(withoutMember(target, 'a')).toBe(target);
    expect(withoutMember(target, 'toString')).toBe(target);
  });
});

describe('withElement', () => {
  const list = deepFreeze([{ id: 'a' }, { id: 'b' }]);

  it('replaces one element of a copy and shares the others', () => {
    const result = withElement(list, 1, { id: 'c' });
    expect(result).toStrictEqual([{ id: 'a' }, { id: 'c' }]);
    expect(result[0]).toBe(list[0]);
  });

  it('returns the very same list when the element is there already', () => {
    expect(withElement(list, 0, list[0])).toBe(list);
  });
});
