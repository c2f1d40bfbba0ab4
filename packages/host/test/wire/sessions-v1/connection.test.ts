import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it } from 'vitest';
import { startHost } from '../../support/session-fixture.js';
import { sessionsV1Client } from '../../support/sessions-v1-client.js';
import { ROOT, settle } from '../../support/test-host.js';

describe('the handshake of sessions-v1', () => {
  it('[V1-002][V1-003][V1-004] is known by its number, and answered in its own form', async () => {
    const host = await startHost();
    const client = host.connect();
    const result = await client.request('initialize', { protocolVersion: 1, clientId: 'old' });
    expect(result).toEqual({ protocolVersion: 1, serverSeq: expect.any(Number), snapshots: [] });
  });

  it.each(['agenthost:root', 'agenthost:/root'] as const)(
    '[V1-006][V1-023] the root is spelled as the client does: %s',
    async (root) => {
      const host = await startHost();
      const client = host.connect();
      const result = await client.request('initialize', {
        protocolVersion: 1,
        clientId: 'old',
        initialSubscriptions: [root],
      });
      expect(result.snapshots).toMatchObject([{ resource: root, state: { agents: [{ provider: 'mock' }] } }]);
      expect(Object.keys((result.snapshots as { state: object }[])[0]?.state ?? {})).toEqual(['agents']);
    },
  );

  it('[V1-003] another number is refused with -32005, and the connection closed', async () => {
    const host = await startHost();
    const client = host.connect();
    const { error } = await client.ask('initialize', { protocolVersion: 2, clientId: 'newer' });
    expect(error).toMatchObject({ code: -32005 });
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.UnsupportedVersion });
  });

  it('[V1-002] a list of versions beside the number is no sessions-v1', async () => {
    const host = await startHost();
    const client = host.connect();
    const both = { channel: ROOT, protocolVersion: 1, protocolVersions: ['0.3.0'], clientId: 'both' };
    expect(await client.request('initialize', both)).toMatchObject({ protocolVersion: '0.3.0' });
  });

  it('[AHP-015][AHP-016] only one handshake, and nothing before it, here too', async () => {
    const host = await startHost();
    const client = host.connect();
    expect((await client.ask('listSessions')).error).toMatchObject({ code: -32600 });
    const hello = { protocolVersion: 1, clientId: 'old' };
    await client.request('initialize', hello);
    expect((await client.ask('initialize', hello)).error).toMatchObject({ code: -32600 });
  });
});

describe('requests that sessions-v1 does not have', () => {
  it('[V1-020] are answered or unknown, and never end the connection', async () => {
    const host = await startHost();
    const { raw } = await sessionsV1Client(host, 'old');
    expect(await raw.ask('ping')).toMatchObject({ result: null });
    expect(await raw.ask('resolveSessionConfig')).toMatchObject({ result: { values: { autoApprove: false } } });
    for (const method of ['createResourceWatch', 'createTerminal', 'completions', 'nonsense']) {
      expect((await raw.ask(method, { uri: 'file:///' })).error).toMatchObject({ code: -32601 });
    }
    expect(raw.closed).toBeUndefined();
  });

  it('[V1-010] channels of other kinds are not found: -32008', async () => {
    const host = await startHost();
    const { raw } = await sessionsV1Client(host, 'old');
    for (const resource of ['ahp-terminal:/1', 'ahp-changeset:/1', 'ahp-otlp:/logs', 'ahp-resource-watch:/1']) {
      expect((await raw.ask('subscribe', { resource })).error).toMatchObject({ code: -32008 });
    }
  });

  it('[V1-021] errors keep their number but have no data; an unknown agent is -32603', async () => {
    const host = await startHost();
    const { raw } = await sessionsV1Client(host, 'old');
    const unknownAgent = (await raw.ask('createSession', { session: 'nobody:/1' })).error;
    expect(unknownAgent).toMatchObject({ code: -32603, message: expect.stringContaining('No agent for provider') });
    expect((await raw.ask('subscribe', { resource: 'mock:/none' })).error).toMatchObject({ code: -32001 });
    expect((await raw.ask('subscribe', {})).error).toMatchObject({ code: -32602 });
    for (const { error } of raw.received) expect(error ?? {}).not.toHaveProperty('data');
  });
});

describe('coming back in sessions-v1', () => {
  it('[V1-002][V1-073][V1-075] needs no version: the wire is remembered, and what is gone has no snapshot', async () => {
    const host = await startHost();
    const old = await sessionsV1Client(host, 'old', 'agenthost:/root');
    await old.raw.request('createSession', { session: 'mock:/1' });
    await old.subscribe('mock:/1');
    const { serverSeq } = await old.action('session/ready').catch(() => ({ serverSeq: 0 }));
    old.raw.disconnect();
    const again = host.connect();
    const result = await again.request('reconnect', {
      clientId: 'old',
      lastSeenServerSeq: serverSeq,
      subscriptions: ['agenthost:/root', 'mock:/1', 'mock:/gone'],
    });
    expect(Object.keys(result)).toEqual(['type', 'snapshots']);
    expect(result).toMatchObject({
      type: 'snapshot',
      snapshots: [{ resource: 'agenthost:/root' }, { resource: 'mock:/1', state: { lifecycle: 'ready' } }],
    });
    expect(result.snapshots).toHaveLength(2);
    await again.request('createSession', { session: 'mock:/2' });
    await settle();
    expect(again.received.filter(({ method }) => method === 'notification')).toHaveLength(1);
  });

  it('[V1-073] [AHP-203] of someone unknown is -32008, and initialize works behind it', async () => {
    const host = await startHost();
    const client = host.connect();
    const params = { clientId: 'nobody', lastSeenServerSeq: 0, subscriptions: [] };
    expect((await client.ask('reconnect', params)).error).toMatchObject({ code: -32008 });
    expect(await client.request('initialize', { protocolVersion: 1, clientId: 'nobody' })).toMatchObject({
      protocolVersion: 1,
    });
  });
});
