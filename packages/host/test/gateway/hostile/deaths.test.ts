/** Providers that fall silent, or die with SIGKILL, in the middle of everything that they can be asked for. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callsIn, stateOf } from '../../support/session-fixture.js';
import { letIn, openProject, openProjectHost, type ProjectHost, type ProjectSession } from './support/project-host.js';

const MORTAL = fileURLToPath(new URL('./support/mortal.mjs', import.meta.url));
const HELLO = {
  name: 'ci',
  tools: [{ name: 'work', description: 'Works.', parameters: {} }],
  hooks: {
    onPreToolUse: [{ match: { tool: 'work' }, action: 'gate', gateId: 'g' }],
    transforms: { tone: { action: 'callback' } },
  },
};

interface Mortal {
  readonly died: Promise<string | null>;
}

function mortal({ port }: ProjectHost, token: string, dieAt: string): Mortal {
  const child = spawn(process.execPath, [MORTAL, JSON.stringify({ port, token, hello: HELLO, dieAt })]);
  onTestFinished(() => void child.kill('SIGKILL'));
  return { died: new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal))) };
}

/** Nothing runs any more that waited for a provider, and the session can be used. */
async function mustBeAtRest({ client }: ProjectHost, { uri, turn }: ProjectSession): Promise<void> {
  const { finish } = await turn();
  finish();
  await expect.poll(async () => (await stateOf(client, uri)).activeTurn).toBeUndefined();
  const { turns, serverTools = [] } = await stateOf(client, uri);
  const open = turns
    .flatMap(({ responseParts }) => callsIn(responseParts))
    .filter(({ status }) => status === 'running');
  expect(open).toEqual([]);
  expect(serverTools).toEqual([]);
}

async function offered({ client }: ProjectHost, { uri }: ProjectSession): Promise<void> {
  await expect.poll(async () => (await stateOf(client, uri)).serverTools?.length, { timeout: 15_000 }).toBe(1);
}

describe('a provider that is killed', () => {
  it.each([
    ['tool.call', { kind: 'completed', success: false }],
    ['half a result', { kind: 'completed', success: false }],
    ['gate.check', { kind: 'denied' }],
  ])('[UNI-104] at %s ends the call at once, and the session goes on', async (dieAt, expected) => {
    const project = await openProjectHost();
    const session = await openProject(project, 'ci');
    const { died } = mortal(project, session.token('ci'), dieAt);
    await offered(project, session);
    const { turn, finish } = await session.turn();
    // No time passes but that of the machine, so nothing here is the work of a timeout.
    expect(await turn.callTool({ name: 'work', input: {} })).toMatchObject(expected);
    expect(await died).toBe('SIGKILL');
    finish();
    await mustBeAtRest(project, session);
  });

  it('[UNI-104] at transform.request leaves the prompt as it was', async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'ci');
    const { died } = mortal(project, session.token('ci'), 'transform.request');
    await offered(project, session);
    const { turn, finish } = await session.turn();
    expect((await turn.renderPrompt()).get('tone')).toBe('Be kind.');
    expect(await died).toBe('SIGKILL');
    finish();
    await mustBeAtRest(project, session);
  });

  it('[UNI-104] right after its hello leaves no tool that nobody runs', async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'ci');
    expect(await mortal(project, session.token('ci'), 'hello').died).toBe('SIGKILL');
    await expect.poll(() => project.host.host.activity.providers).toBe(0);
    await mustBeAtRest(project, session);
  });

  it('[UNI-104] [GW-197] when its session ends does not hold that up', async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'ci');
    const { died } = mortal(project, session.token('ci'), 'shutdown.pending');
    await offered(project, session);
    await project.client.request('disposeSession', { channel: session.uri });
    expect(await died).toBe('SIGKILL');
    await expect.poll(() => project.host.host.activity.providers).toBe(0);
  });
});

describe('a provider that is silent', () => {
  it.each([
    ['tool.call', 60_000, { kind: 'completed', success: false }],
    ['gate.check', 5_000, { kind: 'denied' }],
  ] as const)('at %s keeps the call waiting for as long as it may, and no longer', async (at, limitMs, expected) => {
    const project = await openProjectHost();
    const session = await openProject(project, 'ci');
    const provider = await letIn(project, session.token('ci'));
    const hooks = at === 'gate.check' ? { hooks: HELLO.hooks } : {};
    await provider.hello({ name: 'ci', tools: HELLO.tools, ...hooks });
    const { turn, finish } = await session.turn();
    let isOver = false;
    const outcome = turn.callTool({ name: 'work', input: {} }).finally(() => {
      isOver = true;
    });
    await provider.next(at);
    await project.clock.advance(limitMs - 100);
    expect(isOver).toBe(false);
    await project.clock.advance(200);
    expect(await outcome).toMatchObject(expected);
    finish();
    await expect.poll(async () => (await stateOf(project.client, session.uri)).activeTurn).toBeUndefined();
  });

  it('[GW-197] when its session ends holds that up for ten seconds', async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'ci');
    const provider = await letIn(project, session.token('ci'));
    provider.isSilent = true;
    await provider.hello({ name: 'ci' });
    const disposed = project.client.request('disposeSession', { channel: session.uri });
    await provider.next('session.lifecycle');
    await project.clock.advance(10_100);
    await disposed;
  });
});
