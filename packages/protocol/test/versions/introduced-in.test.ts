import { describe, expect, it } from 'vitest';
import { stateActions } from '../../src/actions.js';
import { CLIENT_DISPATCHABLE, isClientDispatchable } from '../../src/dispatchable.js';
import { clientNotifications, clientRequests, hostNotifications, hostRequests } from '../../src/methods.js';
import type { SchemaNode } from '../../src/schema/node.js';
import {
  ACTION_INTRODUCED_IN,
  isActionKnown,
  isNotificationKnown,
  isServerCommandKnown,
  NOTIFICATION_INTRODUCED_IN,
  SERVER_COMMAND_INTRODUCED_IN,
} from '../../src/versions/introduced-in.js';

const count = (table: object, value: unknown) => Object.values(table).filter((entry) => entry === value).length;

describe('the catalogue of actions', () => {
  it('has 61: 4 root, 40 session, 5 changeset, 11 terminal, 1 resource watch', () => {
    const types = Object.keys(stateActions);
    const size = (family: string) => types.filter((type) => type.startsWith(`${family}/`)).length;
    const families = ['root', 'session', 'changeset', 'terminal', 'resourceWatch'];
    expect(families.map(size)).toEqual([4, 40, 5, 11, 1]);
    expect(types).toHaveLength(61);
  });

  it('dates 52 of them to 0.1.0 and 9 to 0.2.0', () => {
    expect(Object.keys(ACTION_INTRODUCED_IN)).toEqual(Object.keys(stateActions));
    expect(count(ACTION_INTRODUCED_IN, '0.1.0')).toBe(52);
    expect(count(ACTION_INTRODUCED_IN, '0.2.0')).toBe(9);
  });

  it('lets clients ask for 27 of them, two only as the owner of the tool', () => {
    expect(Object.keys(CLIENT_DISPATCHABLE)).toEqual(Object.keys(stateActions));
    expect(count(CLIENT_DISPATCHABLE, true) + count(CLIENT_DISPATCHABLE, 'owner')).toBe(27);
    expect(CLIENT_DISPATCHABLE['session/toolCallComplete']).toBe('owner');
    expect(CLIENT_DISPATCHABLE['session/toolCallContentChanged']).toBe('owner');
  });

  it('answers for any string', () => {
    expect(isClientDispatchable('session/turnStarted')).toBe(true);
    expect(isClientDispatchable('session/delta')).toBe(false);
    for (const odd of ['', 'constructor', '__proto__', 'hasOwnProperty', 'session/future']) {
      expect(isClientDispatchable(odd)).toBe(false);
    }
  });
});

describe('the catalogue of methods', () => {
  it('has 25 client requests, 10 + 1 host requests, 2 client and 8 host notifications', () => {
    expect(Object.keys(clientRequests)).toHaveLength(25);
    expect(Object.keys(hostRequests)).toHaveLength(11);
    expect(Object.keys(clientNotifications)).toHaveLength(2);
    expect(Object.keys(hostNotifications)).toHaveLength(8);
    expect(Object.keys(NOTIFICATION_INTRODUCED_IN)).toEqual(Object.keys(hostNotifications));
    expect(Object.keys(SERVER_COMMAND_INTRODUCED_IN)).toEqual(Object.keys(hostRequests));
  });

  it('[SMT-003] has systemMessageTransform from host to client only', () => {
    expect(hostRequests).toHaveProperty('systemMessageTransform');
    expect(clientRequests).not.toHaveProperty('systemMessageTransform');
  });

  it('[AHP-010] gives the params of every method a required `channel`', () => {
    const calls = [...Object.values(clientRequests), ...Object.values(hostRequests)].map(({ params }) => params);
    const casts = [...Object.values(clientNotifications), ...Object.values(hostNotifications)];
    for (const params of [...calls, ...casts] as SchemaNode[]) {
      expect(params.required, params.$id).toContain('channel');
      expect(params.properties?.channel?.type, params.$id).toBe('string');
    }
  });

  it('[AHP-067] lets the resource methods go both ways with the same params and results', () => {
    const { systemMessageTransform: _, ...shared } = hostRequests;
    expect(clientRequests).toMatchObject(shared);
    expect(Object.keys(shared)).toHaveLength(10);
  });
});

describe('what a version knows', () => {
  it('[SMT-002] filters 0.2.0 and 0.3.0 alike: every action and notification is that old', () => {
    for (const version of ['0.2.0', '0.3.0']) {
      expect(Object.keys(stateActions).every((type) => isActionKnown(type, version))).toBe(true);
      expect(Object.keys(hostNotifications).every((method) => isNotificationKnown(method, version))).toBe(true);
    }
  });

  it('[AHP-110] keeps from an older peer what came later', () => {
    expect(isActionKnown('session/agentChanged', '0.1.0')).toBe(false);
    expect(isActionKnown('session/delta', '0.1.0')).toBe(true);
    expect(isNotificationKnown('otlp/exportLogs', '0.1.0')).toBe(false);
  });

  it('does not keep from anyone what it does not know itself', () => {
    expect(isActionKnown('session/future', '0.2.0')).toBe(true);
    expect(isActionKnown('constructor', '0.2.0')).toBe(true);
  });

  it('[SMT-042] has systemMessageTransform from 0.3.0 on', () => {
    expect(isServerCommandKnown('systemMessageTransform', '0.2.0')).toBe(false);
    expect(isServerCommandKnown('systemMessageTransform', '0.3.0')).toBe(true);
  });
});
