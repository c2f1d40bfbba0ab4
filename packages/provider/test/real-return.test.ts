import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { KEEPALIVE_AFTER_MS, KEEPALIVE_TIMEOUT_MS } from '../src/connection.js';
import { allow, deny, fileResult, type ProviderError, webSocketTransport } from '../src/index.js';
import { eventually } from './support/connected.js';
import { FakeClock } from './support/fake-clock.js';
import { CALL, codeOf, projectFixture, started } from './support/project-fixture.js';
import { startRealHost, textOf, until, untilTool } from './support/real-host.js';

const act = { description: '', run: () => 'done' };

describe('at the real gateway, a provider that comes and goes', { timeout: 30_000 }, () => {
  it('brings its newest hooks, context and filters along, not those it came with', async () => {
    const states: string[] = [];
    const { provider, cutConnections, say } = await projectFixture(
      { act: CALL('act') },
      {
        tools: { act },
        gates: [{ match: { tool: 'act' }, check: () => deny('closed') }],
        onState: ({ at }) => states.push(at),
      },
    );
    expect(textOf(await say('act'))).toContain('closed');
    await provider.updateHooks({ gates: [] });
    await provider.setFilter('noise', [{ match: '.*', outcome: 'drop' }]);
    cutConnections();
    await eventually(() => states.filter((at) => at === 'ready').length === 2, 'the reconnect');
    expect(textOf(await say('act'))).toBe('done');
    await provider.push.keep('dropped', { stream: 'noise' });
    expect(await provider.query(['noise'])).toEqual({ 'noise@bench': [] });
  });

  it('leaves its gates armed while it is away', async () => {
    let isUp = true;
    const fixture = await projectFixture({ list: CALL('list_files') }, {});
    const guard = started({
      name: 'bench',
      instance: 'guard',
      token: fixture.token,
      transport: () => (isUp ? webSocketTransport(fixture.url)() : Promise.reject(new Error('down'))),
      gates: [{ match: { tool: 'list_files' }, check: () => allow() }],
    });
    await guard.ready;
    await writeFile(path.join(fixture.folder, 'marker.txt'), '');
    expect(textOf(await fixture.say('list'))).toContain('marker.txt');
    isUp = false;
    await fixture.cutConnections();
    await eventually(() => guard.state.at === 'reconnecting', 'the loss');
    const refused = textOf(await fixture.say('list'));
    expect(refused).not.toContain('marker.txt');
    expect(refused).toContain('bench');
  });

  it('takes its tools along when it closes', async () => {
    const { provider, session } = await projectFixture({}, { tools: { act } });
    await untilTool(session, 'act');
    await provider.close();
    await until(session, ({ serverTools = [] }) => !serverTools.some(({ name }) => name === 'act'));
  });

  it('finds its name taken, and takes it when it is free', async () => {
    const { provider, url, token } = await projectFixture({}, {});
    const second = started({ name: 'bench', url, token });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(second.state.at).toBe('connecting');
    await provider.close();
    await second.ready;
  });

  it('[GW-104] [GW-106] shares its tools with another instance, and is chosen by target', async () => {
    const where = (instance: string) => ({
      where: { description: 'Where', run: (args: object) => `at ${instance} with ${JSON.stringify(args)}` },
    });
    const fixture = await projectFixture(
      { a: CALL('where', { target: 'a' }), b: CALL('where', { target: 'b' }), all: CALL('list_bench_instances') },
      { instance: 'a', tools: where('a'), metadata: { title: 'First' } },
    );
    const second = started({ name: 'bench', instance: 'b', url: fixture.url, token: fixture.token, tools: where('b') });
    await second.ready;
    await untilTool(fixture.session, 'list_bench_instances');
    expect(fixture.session.state.session.serverTools?.filter(({ name }) => name === 'where')).toHaveLength(1);
    expect(textOf(await fixture.say('a'))).toBe('at a with {}');
    expect(textOf(await fixture.say('b'))).toBe('at b with {}');
    expect(textOf(await fixture.say('all'))).toContain('First');
  });

  it('answers with a file', async () => {
    let folder = '';
    const { binding, say } = await projectFixture(
      { report: CALL('report') },
      {
        tools: {
          report: {
            description: '',
            run: async () => {
              const file = path.join(folder, 'report.txt');
              await writeFile(file, 'from a file');
              return fileResult({ path: file, mimeType: 'text/plain', size: 11 });
            },
          },
        },
      },
    );
    folder = binding.persistDir ?? '';
    expect(textOf(await say('report'))).toContain('from a file');
  });

  it('is paused when it keeps starting turns, and hears it', async () => {
    const errors: ProviderError[] = [];
    const { provider, session, say } = await projectFixture(
      { again: [{ text: 'ok' }] },
      { on: { error: (it) => errors.push(it) } },
    );
    const turns = session.state.chat.turns.length;
    for (let cycle = 1; cycle <= 3; cycle += 1) {
      await provider.push.prompt('again');
      await until(session, (state) => state.turns.length === turns + cycle && !state.activeTurn);
    }
    await provider.push.prompt('again');
    await eventually(() => errors.length === 1, 'the pause');
    expect(errors[0]).toMatchObject({ code: 'RATE_LIMITED', replyTo: 'push' });
    await say('hello');
    await provider.push.prompt('again');
    await until(session, (state) => state.turns.length === turns + 5);
  });
});

describe('at the real gateway, a stranger whose session ends', { timeout: 30_000 }, () => {
  it('[GW-042] [GW-067] pairs again with the next one, and never gets into one that nobody let it into', async () => {
    const fixture = await startRealHost({ prompts: {} });
    const tools = { page_title: { description: '', run: () => 'Dashboard' } };
    let question = () => codeOf(fixture);
    let asked = 0;
    const code = () => {
      asked += 1;
      return question();
    };
    const provider = started({ name: 'browser', url: fixture.url, pairing: { code }, tools });
    await provider.ready;
    await fixture.client.disposeSession(fixture.session.uri);
    await eventually(() => provider.state.at === 'waiting-for-session', 'the wait');
    expect(asked).toBe(1);
    let answer: (code: string) => void = () => {};
    question = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const second = await fixture.open();
    await until(second, ({ lifecycle }) => lifecycle === 'ready');
    await eventually(() => provider.state.at === 'pairing', 'the question');
    expect(second.state.session.serverTools?.map(({ name }) => name) ?? []).not.toContain('page_title');
    answer(await codeOf({ ...fixture, session: second }));
    await untilTool(second, 'page_title');
    expect(provider.state).toMatchObject({ at: 'ready', sessionId: second.uri.slice(second.uri.lastIndexOf('/') + 1) });
    expect(asked).toBe(2);
  });

  it('[GW-042] asks at once when another session is there, and ends with a reason when nobody wants to', async () => {
    const fixture = await startRealHost({ prompts: {} });
    const second = await fixture.open();
    await until(second, ({ lifecycle }) => lifecycle === 'ready');
    let asked = 0;
    const code = async () => {
      asked += 1;
      return asked === 1 ? codeOf(fixture) : undefined;
    };
    const provider = started({ name: 'browser', url: fixture.url, pairing: { code } });
    await provider.ready;
    await fixture.client.disposeSession(fixture.session.uri);
    await eventually(() => provider.state.at === 'closed', 'the end');
    expect(provider.state).toMatchObject({ error: { code: 'PAIRING_REFUSED' } });
    expect(asked).toBe(2);
  });

  it('[GW-042] ends with a reason when all it has is the token of that session', async () => {
    const fixture = await startRealHost({ prompts: {} });
    const issued: (string | undefined)[] = [];
    const store = { load: () => undefined, save: (token: string | undefined) => void issued.push(token) };
    const first = started({ name: 'browser', url: fixture.url, pairing: { code: () => codeOf(fixture), store } });
    await first.ready;
    await first.close();
    const second = started({ name: 'browser', url: fixture.url, token: issued[0] ?? '' });
    await second.ready;
    await fixture.client.disposeSession(fixture.session.uri);
    await eventually(() => second.state.at === 'closed', 'the end');
    expect(second.state).toMatchObject({
      error: { code: 'AUTH_FAILED', advice: expect.stringContaining('pair again') },
    });
  });
});

describe('at the real gateway, a line that may be dead', { timeout: 30_000 }, () => {
  it('[GW-107] is asked about without becoming the instance that was active last', async () => {
    const clock = new FakeClock();
    const where = (instance: string) => ({ where: { description: 'Where', run: () => instance } });
    const fixture = await projectFixture({ where: CALL('where') }, { instance: 'quiet', tools: where('quiet'), clock });
    const { url, token } = fixture;
    const busy = started({ name: 'bench', instance: 'busy', url, token, tools: where('busy') });
    await busy.ready;
    await busy.push.keep('here I am');
    await untilTool(fixture.session, 'list_bench_instances');
    await clock.advance(KEEPALIVE_AFTER_MS);
    // Time for a real answer over a real socket; without one, the line would be given up now.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await clock.advance(KEEPALIVE_TIMEOUT_MS);
    expect(fixture.provider.state.at).toBe('ready');
    expect(textOf(await fixture.say('where'))).toBe('busy');
  });

  it('[GW-224] leads to a host that has another port now, when the provider can find it', async () => {
    const before = await startRealHost({ prompts: {} });
    let fixture = before;
    const tools = { page_title: { description: '', run: () => 'Dashboard' } };
    const pairing = { code: () => codeOf(fixture) };
    const provider = started({ name: 'browser', url: () => fixture.url, pairing, tools });
    await provider.ready;
    await before.stop();
    fixture = await startRealHost({ prompts: {} });
    expect(fixture.url).not.toBe(before.url);
    await untilTool(fixture.session, 'page_title');
  });
});
