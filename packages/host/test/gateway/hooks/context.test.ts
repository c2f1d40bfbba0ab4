/** What providers tell the model beside a message, as the model's endpoint really gets it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../../agents/src/model/backend.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pair } from '../../support/gateway-connections.js';
import { ModelServer } from '../../support/model-server.js';
import { refusalTo, updated } from '../../support/provider-fixture.js';
import { openPuppetFixture, startHost, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const STARTUP = 'The build takes an hour.';
const CONTEXT = 'CI is green.';

async function openModelFixture() {
  const server = await ModelServer.start(...Array.from({ length: 8 }, () => ({ text: ['Done.'] })));
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1' }];
  const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  const agents = [modelAgent({ ...options, baseURL: server.url })];
  const host = await startHost({ scripts: [], agents, clock: new FakeClock() });
  const client = await host.client('desk');
  return { server, host, client, uri: await client.session() };
}

type ModelFixture = Awaited<ReturnType<typeof openModelFixture>>;

/** The messages of people as the model got them with the last request. */
function heard({ server }: ModelFixture): string[] {
  const messages = (server.requests.at(-1)?.body.messages ?? []) as { role: string; content: unknown }[];
  return messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
}

function times(texts: readonly string[], text: string): number[] {
  return texts.map((each) => each.split(text).length - 1);
}

describe('context of a provider', () => {
  it('[GW-168] [UNI-021] [UNI-091] goes with every message to the model, and is nowhere to be seen', async () => {
    const fixture = await openModelFixture();
    await TestProvider.bound(fixture.host, { context: CONTEXT, startup_context: STARTUP });
    for (const text of ['first', 'second']) {
      await fixture.client.turn(fixture.uri, text);
      expect(heard(fixture).at(-1)).toContain(CONTEXT);
      expect(heard(fixture).at(-1)).toContain(text);
    }
    const state = await stateOf(fixture.client, fixture.uri);
    expect(state.turns.map(({ userMessage }) => userMessage.text)).toEqual(['first', 'second']);
    const everything = JSON.stringify([state, fixture.client.received]);
    for (const secret of [CONTEXT, STARTUP]) expect(everything).not.toContain(secret);
    expect(state._meta?.gateway).toMatchObject({ providers: [{ name: 'ci', context: true }] });
    const [system] = (fixture.server.requests.at(-1)?.body.messages ?? []) as { role: string; content: string }[];
    expect(system).toMatchObject({ role: 'system', content: expect.not.stringContaining(CONTEXT) });
  });

  it('[GW-165] [GW-212] reaches the model of its own session only, and so do changes of the prompt', async () => {
    const fixture = await openModelFixture();
    const other = await fixture.client.session('ahp-session:/other');
    const transforms = { tone: { action: 'append', content: 'Speak like a sailor.' } };
    const session = fixture.uri.slice(fixture.uri.lastIndexOf('/') + 1);
    await TestProvider.bound(fixture.host, { session, context: CONTEXT, hooks: { transforms } });
    const asked = async (uri: string) => {
      await fixture.client.turn(uri, 'hello');
      return JSON.stringify(fixture.server.requests.at(-1)?.body);
    };
    for (const text of [CONTEXT, 'Speak like a sailor.']) {
      expect(await asked(fixture.uri)).toContain(text);
      expect(await asked(other)).not.toContain(text);
    }
  });

  it('[GW-169] [GW-172] is replaced by an update, and cleared by an empty text or null', async () => {
    const fixture = await openModelFixture();
    const provider = await TestProvider.bound(fixture.host, { context: CONTEXT });
    for (const context of ['CI is red.', '', 'CI is back.', null]) {
      await updated(provider, { type: 'context.update', context });
      await fixture.client.turn(fixture.uri, 'hello');
      const last = heard(fixture).at(-1) ?? '';
      expect(last).not.toContain(CONTEXT);
      for (const text of ['CI is red.', 'CI is back.']) expect(last.includes(text)).toBe(text === context);
    }
  });

  it('[GW-170] [GW-171] is told once at the start, or with the next message of a session that runs', async () => {
    const fixture = await openModelFixture();
    await TestProvider.bound(fixture.host, { startup_context: STARTUP });
    await fixture.client.turn(fixture.uri, 'first');
    expect(times(heard(fixture), STARTUP)).toEqual([1]);
    await TestProvider.bound(fixture.host, { name: 'late', startup_context: 'I came late.' });
    await fixture.client.turn(fixture.uri, 'second');
    expect(times(heard(fixture).slice(-1), STARTUP)).toEqual([0]);
    expect(times(heard(fixture).slice(-1), 'I came late.')).toEqual([1]);
    await fixture.client.turn(fixture.uri, 'third');
    expect(times(heard(fixture).slice(-1), 'I came late.')).toEqual([0]);
  });

  it('[GW-171] is not told again after a rebind or a reconnect, but also not lost by one', async () => {
    const fixture = await openModelFixture();
    const provider = TestProvider.connect(fixture.host);
    const { reconnectToken } = await provider.hello({ startup_context: STARTUP });
    provider.drop();
    await settle();
    const back = await TestProvider.bound(fixture.host, { reconnectToken });
    await fixture.client.turn(fixture.uri, 'first');
    expect(times(heard(fixture), STARTUP)).toEqual([1]);
    await back.hello({ startup_context: STARTUP });
    await fixture.client.turn(fixture.uri, 'second');
    expect(times(heard(fixture).slice(-1), STARTUP)).toEqual([0]);
    back.drop();
    await settle();
    await TestProvider.bound(fixture.host, { startup_context: STARTUP });
    await fixture.client.turn(fixture.uri, 'third');
    expect(times(heard(fixture).slice(-1), STARTUP)).toEqual([0]);
  });

  it('[GW-168] of somebody who is away is not told, and of several instances once', async () => {
    const fixture = await openModelFixture();
    const tabs = await Promise.all(
      ['one', 'two'].map((instance) => TestProvider.bound(fixture.host, { name: 'p', instance, context: CONTEXT })),
    );
    await fixture.client.turn(fixture.uri, 'first');
    expect(times(heard(fixture).slice(-1), CONTEXT)).toEqual([1]);
    for (const provider of tabs) provider.drop();
    await settle();
    await fixture.client.turn(fixture.uri, 'second');
    expect(times(heard(fixture).slice(-1), CONTEXT)).toEqual([0]);
  });

  it('is not for strangers', async () => {
    const fixture = await openPuppetFixture();
    const { provider } = await pair(fixture);
    await provider.hello({ name: 'browser' });
    const update = { type: 'context.update', requestId: 'r', context: 'Do as I say.' };
    expect(await refusalTo(provider, update)).toMatchObject({ code: 'UNAUTHORIZED', requestId: 'r' });
  });
});
