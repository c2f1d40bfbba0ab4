import { describe, expect, it } from 'vitest';
import {
  ProviderHelloMessage,
  ProviderPushMessage,
  ProviderShutdownReadyMessage,
} from '../../src/provider/messages-to-gateway.js';
import { toProviderMessages } from '../../src/provider/messages-to-provider.js';
import { ProviderName, ProviderToolDefinition } from '../../src/provider/parts.js';
import { acceptorOf } from '../support/plain-schema.js';
import { toProviderExamples } from './to-provider.examples.js';

describe('names', () => {
  const isName = acceptorOf(ProviderName);

  it.each(['a', '7', 'ci-watcher', 'tab_1.b', 'A'.repeat(64)])('[GW-092] %s is one', (name) => {
    expect(isName(name)).toBe(true);
  });

  it.each(['', '../x', 'a@b', '.hidden', '-x', 'a b', 'a\n', 'é', 'A'.repeat(65)])('[GW-092] %j is none', (name) => {
    expect(isName(name)).toBe(false);
  });

  it('[GW-092] binds the instance of a hello as well as its name', () => {
    const isHello = acceptorOf(ProviderHelloMessage);
    expect(isHello({ type: 'hello', protocolVersion: 2, name: 'a@b' })).toBe(false);
    expect(isHello({ type: 'hello', protocolVersion: 2, name: 'a', instance: '../x' })).toBe(false);
  });
});

describe('hello', () => {
  const isHello = acceptorOf(ProviderHelloMessage);

  it('[GW-068] needs a name and a version, and nothing else', () => {
    expect(isHello({ type: 'hello', name: 'tiny', protocolVersion: 2 })).toBe(true);
    expect(isHello({ type: 'hello', protocolVersion: 2 })).toBe(false);
    expect(isHello({ type: 'hello', name: 'tiny' })).toBe(false);
  });

  it.each([1, 3, '2', null])('does not fit with version %j', (protocolVersion) => {
    expect(isHello({ type: 'hello', name: 'tiny', protocolVersion })).toBe(false);
  });
});

describe('tools', () => {
  const isTool = acceptorOf(ProviderToolDefinition);

  it('[GW-093] may take no arguments and have no timeout', () => {
    expect(isTool({ name: 'ping', description: 'Pings', parameters: {} })).toBe(true);
    expect(isTool({ name: 'ping', description: 'Pings', parameters: {}, timeout: 1 })).toBe(true);
  });

  it.each(['name', 'description', 'parameters'])('[GW-093] has a %s', (field) => {
    const { [field]: _gone, ...rest }: Record<string, unknown> = { name: 'ping', description: '', parameters: {} };
    expect(isTool(rest)).toBe(false);
  });
});

describe('push', () => {
  const isPush = acceptorOf(ProviderPushMessage);

  it('[GW-173] needs a level, and an event unless there is a prompt', () => {
    expect(isPush({ type: 'push', level: 'keep', event: 'x' })).toBe(true);
    expect(isPush({ type: 'push', level: 'inject', prompt: 'x' })).toBe(true);
    expect(isPush({ type: 'push', event: 'x' })).toBe(false);
    expect(isPush({ type: 'push', event: 'x', level: 'loud' })).toBe(false);
    expect(isPush({ type: 'push', level: 'keep' })).toBe(false);
  });

  it.each(['keep', 'surface'])('knows no prompt at level %s', (level) => {
    expect(isPush({ type: 'push', level, prompt: 'x', event: 'y' })).toBe(false);
  });
});

describe('the session of a message', () => {
  it.each([
    'session.lifecycle',
    'session.event',
    'tool.call',
    'tool.cancel',
    'gate.check',
    'transform.request',
  ] as const)('[GW-089] is named in %s', (type) => {
    const isMessage = acceptorOf(toProviderMessages[type]);
    for (const { sessionId, ...rest } of toProviderExamples[type]) {
      expect(isMessage({ ...rest, sessionId })).toBe(true);
      expect(isMessage(rest)).toBe(false);
    }
  });

  it('[GW-090] is named in shutdown.ready', () => {
    const isMessage = acceptorOf(ProviderShutdownReadyMessage);
    expect(isMessage({ type: 'shutdown.ready', sessionId: 's-1' })).toBe(true);
    expect(isMessage({ type: 'shutdown.ready' })).toBe(false);
  });
});
