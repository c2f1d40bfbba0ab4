import { BASELINES } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { FailingLog } from '../support/logs.js';
import { answerTo, startHost } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

const channel = 'ahp-session:/one';

describe('errors of requests', () => {
  it('[AHP-094] a session that does not exist is -32001, for every command', async () => {
    const host = await startHost();
    const client = await host.client();
    for (const method of ['subscribe', 'disposeSession', 'fetchTurns']) {
      expect((await client.ask(method, { channel })).error).toMatchObject({ code: -32001 });
    }
    const completions = { channel, kind: 'userMessage', text: '', offset: 0 };
    expect((await client.ask('completions', completions)).error).toMatchObject({ code: -32001 });
  });

  it('[AHP-095] an agent that is not there is -32002, and nothing is created', async () => {
    const host = await startHost();
    const client = await host.client();
    const { error } = await client.ask('createSession', { channel, provider: 'nobody' });
    expect(error).toMatchObject({ code: -32002 });
    expect(error?.message).toContain('mock');
    expect(await client.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
  });

  it('[AHP-096] a URI in use is -32003, also when both creations are under way', async () => {
    const host = await startHost();
    const [client, phone] = [await host.client(), await host.client()];
    const answers = await Promise.all([
      client.ask('createSession', { channel }),
      phone.ask('createSession', { channel }),
      phone.ask('createSession', { channel }),
    ]);
    expect(answers.map(({ error }) => error?.code)).toEqual([undefined, -32003, -32003]);
  });

  it.each([
    '',
    'nothing',
    '/relative',
    'ahp-root://',
    'ahp-terminal:/1',
    'ahp-changeset:/1',
    'ahp-otlp:/logs',
    'ahp-resource-watch:/1',
  ])('[AHP-092] a session cannot be created under %j', async (uri) => {
    const host = await startHost();
    const client = await host.client();
    expect((await client.ask('createSession', { channel: uri })).error).toMatchObject({ code: -32602 });
    expect(await client.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
  });

  it('[AHP-097][AHP-103] no common version is -32005, with the versions that there are', async () => {
    const host = await startHost();
    const client = host.connect();
    const params = { channel: ROOT, protocolVersions: ['0.1.0'], clientId: 'desk' };
    expect((await client.ask('initialize', params)).error).toMatchObject({
      code: -32005,
      data: { supportedVersions: BASELINES.map(({ baseline }) => baseline) },
    });
  });

  it.each(['ahp-terminal:/1', 'ahp-changeset:/1', 'ahp-resource-watch:/1', 'ahp-otlp:/logs'])(
    '[AHP-099] %s is not found: -32008',
    async (uri) => {
      const host = await startHost();
      const client = await host.client();
      expect((await client.ask('subscribe', { channel: uri })).error).toMatchObject({ code: -32008 });
    },
  );

  it('[AHP-093] what goes wrong inside is -32603; nothing of it stays, and the next try works', async () => {
    const log = new FailingLog();
    const host = await startHost({ log });
    const client = await host.client();
    log.isFull = true;
    const { error } = await client.ask('createSession', { channel });
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('ENOSPC');
    expect(await client.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
    log.isFull = false;
    expect(await client.ask('createSession', { channel })).toMatchObject({ result: null });
    const numbers = client.envelopes(ROOT).map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual([...new Set(numbers)]);
  });
});

describe('rejected actions', () => {
  it('[AHP-104] have a reason and no code: they are no errors', async () => {
    const host = await startHost();
    const client = await host.client();
    const uri = await client.session();
    const seen = client.received.length;
    const clientSeq = client.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' } as never);
    const envelope = await answerTo(client, uri, clientSeq);
    expect(envelope.rejectionReason).toEqual(expect.any(String));
    await settle();
    expect(client.received.slice(seen).filter((message) => 'error' in message || 'id' in message)).toEqual([]);
  });
});
