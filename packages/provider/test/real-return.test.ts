import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { allow, deny, fileResult, type ProviderError, webSocketTransport } from '../src/index.js';
import { eventually } from './support/connected.js';
import { CALL, codeOf, projectRoom, started } from './support/project-room.js';
import { startRealHost, textOf, until, untilTool } from './support/real-host.js';

const act = { description: '', run: () => 'done' };

describe('at the real gateway, a provider that comes and goes', { timeout: 30_000 }, () => {
  it('brings its newest hooks, context and filters along, not those it came with', async () => {
    const states: string[] = [];
    const { provider, cutConnections, say } = await projectRoom(
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
    await cutConnections();
    await eventually(() => states.filter((at) => at === 'ready').length === 2, 'the reconnect');
    expect(textOf(await say('act'))).toBe('done');
    await provider.push.keep('dropped', { stream: 'noise' });
    expect(await provider.query(['noise'])).toEqual({ 'noise@bench': [] });
  });

  it('leaves its gates armed while it is away', async () => {
    let isUp = true;
    const room = await projectRoom({ list: CALL('list_files') }, {});
    const guard = started({
      name: 'bench',
      instance: 'guard',
      token: room.token,
      transport: () => (isUp ? webSocketTransport(room.url)() : Promise.reject(new Error('down'))),
      gates: [{ match: { tool: 'list_files' }, check: () => allow() }],
    });
    await guard.ready;
    await writeFile(path.join(room.folder, 'marker.txt'), '');
    expect(textOf(await room.say('list'))).toContain('marker.txt');
    isUp = false;
    await room.cutConnections();
    await eventually(() => guard.state.at === 'reconnecting', 'the loss');
    const refused = textOf(await room.say('list'));
    expect(refused).not.toContain('marker.txt');
    expect(refused).toContain('bench');
  });

  it('takes its tools along when it closes', async () => {
    const { provider, session } = await projectRoom({}, { tools: { act } });
    await untilTool(session, 'act');
    await provider.close();
    await until(session, ({ serverTools = [] }) => !serverTools.some(({ name }) => name === 'act'));
  });

  it('finds its name taken, and takes it when it is free', async () => {
    const { provider, url, token } = await projectRoom({}, {});
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
    const room = await projectRoom(
      { a: CALL('where', { target: 'a' }), b: CALL('where', { target: 'b' }), all: CALL('list_bench_instances') },
      { instance: 'a', tools: where('a'), metadata: { title: 'First' } },
    );
    const second = started({ name: 'bench', instance: 'b', url: room.url, token: room.token, tools: where('b') });
    await second.ready;
    await untilTool(room.session, 'list_bench_instances');
    expect(room.session.state.serverTools?.filter(({ name }) => name === 'where')).toHaveLength(1);
    expect(textOf(await room.say('a'))).toBe('at a with {}');
    expect(textOf(await room.say('b'))).toBe('at b with {}');
    expect(textOf(await room.say('all'))).toContain('First');
  });

  it('answers with a file', async () => {
    let folder = '';
    const { binding, say } = await projectRoom(
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
    const { provider, session, say } = await projectRoom(
      { again: [{ text: 'ok' }] },
      { on: { error: (it) => errors.push(it) } },
    );
    const turns = session.state.turns.length;
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
  it('[GW-042] waits, is not let into another session, and has to pair again', async () => {
    const room = await startRealHost({ prompts: {} });
    const tools = { page_title: { description: '', run: () => 'Dashboard' } };
    let asked = 0;
    const code = async () => {
      asked += 1;
      return asked === 1 ? codeOf(room) : undefined;
    };
    const provider = started({ name: 'browser', url: room.url, pairing: { code }, tools });
    await provider.ready;
    await room.desk.disposeSession(room.session.uri);
    await eventually(() => provider.state.at === 'waiting-for-session', 'the wait');
    const second = await room.open();
    await until(second, ({ lifecycle }) => lifecycle === 'ready');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(provider.state.at).toBe('waiting-for-session');
    expect(second.state.serverTools?.map(({ name }) => name) ?? []).not.toContain('page_title');
    await room.cutConnections();
    await eventually(() => provider.state.at === 'closed', 'the refusal');
    expect(provider.state).toMatchObject({ error: { code: 'PAIRING_REFUSED' } });
    expect(asked).toBe(2);
  });
});
