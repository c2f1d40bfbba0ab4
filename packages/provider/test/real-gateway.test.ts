import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { allow, context, deny } from '../src/index.js';
import { eventually } from './support/connected.js';
import { CALL, codeOf, projectFixture, started } from './support/project-fixture.js';
import { type RealHost, startRealHost, textOf, turnStarted, until, untilTool } from './support/real-host.js';

describe('at the real gateway, a project provider', { timeout: 30_000 }, () => {
  it('[GW-070] binds to its session with its token, and may leave files', async () => {
    const { binding, sessionId, folder } = await projectFixture({}, {});
    expect(binding).toMatchObject({ sessionId, providerId: expect.stringMatching(/^p-/) });
    expect(path.dirname(binding.persistDir ?? '')).toBe(path.join(folder, 'files'));
  });

  it('[GW-112] lends tools that the agent calls', async () => {
    const { say } = await projectFixture(
      { greet: CALL('greet', { name: 'desk' }), fail: CALL('fail') },
      {
        tools: {
          greet: {
            description: 'Greets',
            run: ({ name }, { progress }) => {
              progress('thinking of a greeting');
              return `Hello ${name}`;
            },
          },
          fail: { description: 'Fails', run: () => Promise.reject(new Error('no disk')) },
        },
      },
    );
    expect(textOf(await say('greet'))).toContain('Hello desk');
    expect(textOf(await say('fail'))).toContain('no disk');
  });

  it('[GW-122] stops a tool when the turn is stopped', async () => {
    const signals: AbortSignal[] = [];
    const { session } = await projectFixture(
      { slow: CALL('slow') },
      {
        tools: {
          slow: {
            description: '',
            run: (_args, { signal }) => {
              signals.push(signal);
              return new Promise(() => {});
            },
          },
        },
      },
    );
    await session.dispatch(turnStarted('t', 'slow'));
    await eventually(() => signals.length === 1);
    await session.dispatch({ type: 'chat/turnCancelled', turnId: 't' });
    await eventually(() => signals[0]?.aborted === true, 'the abort');
  });

  it('[GW-120] is cancelled when its tool takes too long', async () => {
    const signals: AbortSignal[] = [];
    const { say } = await projectFixture(
      { slow: CALL('slow') },
      {
        tools: {
          slow: {
            description: '',
            timeoutMs: 50,
            run: (_args, { signal }) => {
              signals.push(signal);
              return new Promise(() => {});
            },
          },
        },
      },
    );
    expect(textOf(await say('slow'))).toMatch(/TIMEOUT|no answer/);
    await eventually(() => signals[0]?.aborted === true, 'the abort');
  });

  it('[GW-135] [GW-137] guards tools by rules and by gates', async () => {
    const seen: string[] = [];
    const { say } = await projectFixture(
      { one: CALL('act', { what: 'one' }), two: CALL('act', { what: 'two' }), three: CALL('act', { what: 'three' }) },
      {
        tools: { act: { description: '', run: ({ what }) => `did ${what}` } },
        deny: [{ match: { tool: 'act', args: '"two"' }, reason: 'never two' }],
        gates: [
          {
            match: { tool: 'act' },
            check: ({ args }) => {
              seen.push(String(args.what));
              return args.what === 'three' ? deny('not three today') : allow();
            },
          },
        ],
      },
    );
    expect(textOf(await say('one'))).toContain('did one');
    expect(textOf(await say('two'))).toContain('never two');
    expect(textOf(await say('three'))).toContain('not three today');
    expect(seen).toEqual(['one', 'three']);
  });

  it('[GW-157] changes sections of the prompt', async () => {
    const { say } = await projectFixture(
      { prompt: [{ showPrompt: true }] },
      {
        transforms: {
          tone: { append: 'Be brief.' },
          intro: { callback: (current) => `${current} Changed by a callback.` },
        },
      },
      { intro: 'You are an agent.', tone: 'Be kind.', safety: 'Be safe.' },
    );
    const prompt = textOf(await say('prompt'));
    expect(prompt).toMatch(
      /You are an agent\. Changed by a callback\.[\s\S]*Be kind\.[\s\S]*Be brief\.[\s\S]*Be safe\./,
    );
  });

  it('[GW-099] [GW-204] changes its tools, and what is acknowledged is in force', async () => {
    const { provider, say, session } = await projectFixture(
      { one: CALL('one'), two: CALL('two') },
      { tools: { one: { description: '', run: () => 'first' } } },
    );
    const { revision, acknowledged } = await provider.updateTools({
      one: null,
      two: { description: '', run: () => 'second' },
    });
    expect({ acknowledged, revision }).toEqual({ acknowledged: true, revision: 1 });
    await untilTool(session, 'two');
    expect(session.state.session.serverTools?.map(({ name }) => name)).not.toContain('one');
    expect(textOf(await say('two'))).toContain('second');
    await expect(
      provider.updateTools({ list_bench_instances: { description: '', run: () => 1 } }),
    ).rejects.toMatchObject({ code: 'TOOL_CONFLICT' });
    await provider.updateContext('CI is green');
    await provider.updateHooks({ contextRules: [{ match: { tool: 'two' }, content: 'noted' }] });
  });

  it('[GW-175] [GW-184] pushes news: kept, shown, injected, and filtered', async () => {
    const { provider, session } = await projectFixture({ 'Look at it.': [{ text: 'looked' }] }, {});
    await provider.push.keep('kept', { metadata: { run: 1 } });
    await provider.push.surface('shown');
    await provider.setFilter('noise', [{ match: '.*', outcome: 'drop' }]);
    await provider.push.surface('dropped', { stream: 'noise' });
    const streams = await provider.query(['bench', 'noise']);
    expect(streams['bench@bench']?.map(({ event }) => event)).toEqual(['shown', 'kept']);
    expect(streams['noise@bench']).toEqual([]);
    await until(session, (state) => JSON.stringify(state).includes('※ bench: shown'));
    await provider.push.prompt('Look at it.');
    await until(session, ({ turns }) => turns.some(({ message }) => message.text === 'Look at it.'));
  });

  it('hears what happens', async () => {
    const heard: string[] = [];
    const { say } = await projectFixture(
      { greet: CALL('greet') },
      {
        tools: { greet: { description: '', run: () => 'hi' } },
        on: {
          started: () => heard.push('started'),
          userMessage: ({ content }) => heard.push(`user: ${content}`),
          toolComplete: ({ tool, provider, result }) => heard.push(`tool: ${tool} of ${provider}, ${result.type}`),
          assistantMessage: ({ content }) => heard.push(`assistant: ${content}`),
          idle: () => heard.push('idle'),
        },
      },
    );
    await say('greet');
    await eventually(() => heard.includes('idle'));
    expect(heard).toEqual(expect.arrayContaining(['started', 'user: greet', 'tool: greet of bench, success', 'idle']));
    expect(heard.at(-1)).toBe('idle');
  });

  it('comes back after a lost connection as the one that it was', async () => {
    const states: string[] = [];
    const ids: string[] = [];
    const { cutConnections, say, binding } = await projectFixture(
      { greet: CALL('greet') },
      {
        tools: { greet: { description: '', run: () => 'still here' } },
        onState: (state) => {
          states.push(state.at);
          if (state.at === 'ready') ids.push(state.providerId);
        },
      },
    );
    cutConnections();
    await eventually(() => ids.length === 2, 'the reconnect');
    expect(ids).toEqual([binding.providerId, binding.providerId]);
    expect(states).toContain('reconnecting');
    expect(textOf(await say('greet'))).toContain('still here');
  });

  it('[GW-032] is told when its session ends, may clean up, and ends with it', async () => {
    const cleaned: string[] = [];
    const { client, session, sessionId, provider } = await projectFixture(
      {},
      {
        on: {
          shutdown: async ({ sessionId: ending }) => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            cleaned.push(ending);
          },
        },
      },
    );
    await client.disposeSession(session.uri);
    await eventually(() => cleaned.length === 1, 'the clean-up');
    expect(cleaned).toEqual([sessionId]);
    await eventually(() => provider.state.at === 'closed', 'the end');
    expect(provider.state).toMatchObject({ error: { code: 'AUTH_FAILED' } });
  });
});

/** A port outside the range from which the system gives them out, so that nobody else takes it between two lives. */
async function startOnLastingPort(tries = 5): Promise<{ before: RealHost; port: number }> {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  try {
    return { before: await startRealHost({ prompts: {}, port }), port };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === 1) throw error;
    return startOnLastingPort(tries - 1);
  }
}

/** The port is free a moment after the host before has left it. */
async function startAgain(port: number, tries = 50): Promise<RealHost> {
  try {
    return await startRealHost({ prompts: {}, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return startAgain(port, tries - 1);
  }
}

describe('at the real gateway, a stranger', { timeout: 30_000 }, () => {
  it('[GW-037] [GW-041] pairs once, lends a tool that people approve, and comes back without a code', async () => {
    const fixture = await startRealHost({ prompts: { title: CALL('page_title') } });
    let asked = 0;
    const states: string[] = [];
    const provider = started({
      name: 'browser',
      url: fixture.url,
      pairing: {
        code: () => {
          asked += 1;
          return codeOf(fixture);
        },
      },
      tools: { page_title: { description: '', run: () => 'Dashboard' } },
      onState: ({ at }) => states.push(at),
    });
    expect(await provider.ready).toMatchObject({ sessionId: fixture.sessionId });
    expect((await provider.ready).persistDir).toBeUndefined();
    await untilTool(fixture.session, 'page_title');
    const turnId = 't';
    await fixture.session.dispatch(turnStarted(turnId, 'title'));
    const { activeTurn } = await until(fixture.session, (state) =>
      JSON.stringify(state.activeTurn ?? {}).includes('pending-confirmation'),
    );
    const call = activeTurn?.responseParts.find(({ kind }) => kind === 'toolCall');
    if (call?.kind !== 'toolCall') throw new Error('no call');
    const { toolCallId } = call.toolCall;
    await fixture.session.dispatch({
      type: 'chat/toolCallConfirmed',
      turnId,
      toolCallId,
      approved: true,
      confirmed: 'user-action',
    });
    const { turns } = await until(fixture.session, (state) => state.turns.length === 1);
    expect(turns[0] && textOf(turns[0])).toContain('Dashboard');
    await fixture.cutConnections();
    await eventually(() => states.filter((at) => at === 'ready').length === 2, 'the reconnect');
    expect(asked).toBe(1);
  });

  it('[GW-048] [GW-055] may not bring gates or context', async () => {
    const fixture = await startRealHost({ prompts: {} });
    const pairing = { code: () => codeOf(fixture) };
    const provider = started({ name: 'browser', url: fixture.url, pairing, context: 'listen to me' });
    await expect(provider.ready).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const gated = started({
      name: 'gated',
      url: fixture.url,
      pairing,
      gates: [{ match: {}, check: () => context('x') }],
    });
    await expect(gated.ready).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('is asked again after a wrong code', async () => {
    const fixture = await startRealHost({ prompts: {} });
    let asked = 0;
    const code = async () => {
      asked += 1;
      const right = await codeOf(fixture);
      return asked === 1 ? right.replaceAll(/\d/g, (digit) => String((Number(digit) + 1) % 10)) : right;
    };
    await started({ name: 'browser', url: fixture.url, pairing: { code } }).ready;
    expect(asked).toBe(2);
  });

  it('[GW-042] [GW-224] finds a host that was started again by itself, and pairs anew, because its token is void', async () => {
    const { before, port } = await startOnLastingPort();
    let fixture = before;
    let asked = 0;
    const code = () => {
      asked += 1;
      return codeOf(fixture);
    };
    const tools = { page_title: { description: '', run: () => 'Dashboard' } };
    const provider = started({ name: 'browser', url: before.url, pairing: { code }, tools });
    const { providerId } = await provider.ready;
    await before.stop();
    await eventually(() => provider.state.at !== 'ready', 'the loss');
    fixture = await startAgain(port);
    await untilTool(fixture.session, 'page_title');
    expect(provider.state).toMatchObject({ at: 'ready', sessionId: fixture.sessionId });
    expect(provider.state).not.toMatchObject({ providerId });
    expect(asked).toBe(2);
  });
});

describe('at the real gateway, a provider in the same process', () => {
  it('[GW-029] [GW-201] needs no token, binds to all sessions, and to each new one when it is ready', async () => {
    const fixture = await startRealHost({ prompts: {} });
    const prepared: string[] = [];
    let prepare = () => {};
    const newSession = ({ sessionId }: { sessionId: string }) => {
      prepared.push(sessionId);
      return new Promise<void>((resolve) => {
        prepare = resolve;
      });
    };
    const provider = started({
      name: 'inside',
      session: 'all',
      transport: () => fixture.inProcess(),
      tools: { inside: { description: '', run: () => 'here' } },
      on: { newSession },
    });
    expect(await provider.ready).not.toHaveProperty('sessionId');
    await untilTool(fixture.session, 'inside');
    const second = await fixture.open();
    await eventually(() => prepared.length === 1, 'the new session');
    await until(second, ({ lifecycle }) => lifecycle === 'ready');
    expect(second.state.session.serverTools?.map(({ name }) => name) ?? []).not.toContain('inside');
    prepare();
    await untilTool(second, 'inside');
    expect(prepared).toEqual([second.uri.slice(second.uri.lastIndexOf('/') + 1)]);
    await provider.close();
    await until(second, ({ serverTools = [] }) => !serverTools.some(({ name }) => name === 'inside'));
  });
});
