import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '@atrium/core/util/clock.js';
import type { LogFields, Logger } from '@atrium/core/util/logger.js';
import { describe, expect, it } from 'vitest';
import { gatewayMeta } from '../../../src/gateway/gateway-session.js';
import { ARRIVAL_MAX_MS, Arrivals } from '../../../src/gateway/project/project-providers.js';
import { OutputLines } from '../../../src/gateway/project/provider-process.js';
import type { FolderTrust } from '../../../src/plugins/trust/folder-trust.js';
import { FakeClock } from '../../support/fake-clock.js';
import {
  openGateway,
  openProjectFixture,
  sessionId,
  TRUSTING,
  until,
  withToken,
} from '../../support/gateway-connections.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { startHost, stateOf, turnStarted } from '../../support/session-fixture.js';
import { tempFolder } from '../../support/temp-folder.js';
import { type RawClient, settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

/** A whole provider in a few lines: it binds by itself, and answers the end of its session. */
const PROVIDER = `
const fs = require('node:fs');
const WebSocket = require(process.argv[3]);
const socket = new WebSocket(process.env.TAP_GATEWAY_URL);
const send = (message) => socket.send(JSON.stringify(message));
console.log('I know ' + process.env.TAP_PROVIDER_TOKEN);
fs.appendFileSync('starts', process.pid + ' ' + process.env.TAP_PROVIDER_TOKEN + '\\n');
socket.onopen = () => send({ type: 'auth', token: process.env.TAP_PROVIDER_TOKEN });
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === 'sessions')
    send({ type: 'hello', name: process.argv[2], protocolVersion: 2, context: 'News of ' + process.argv[2] + '.',
      tools: [{ name: process.argv[2] + '_status', description: 'CI', parameters: {} }] });
  if (message.state === 'shutdown.pending') send({ type: 'shutdown.ready', sessionId: message.sessionId });
};
`;

const SOCKETS = createRequire(import.meta.url).resolve('ws');
const ci = (name: string) => ({ command: process.execPath, args: ['provider.cjs', name, SOCKETS] });

async function projectFolder(providers: object): Promise<string> {
  return tempFolder({ 'atrium.json': JSON.stringify({ providers }), 'provider.cjs': PROVIDER });
}

interface Project {
  readonly agent: PuppetAgent;
  readonly client: RawClient;
  readonly uri: string;
  readonly folder: string;
  readonly logged: { message: string; fields: LogFields | undefined }[];
}

async function openProject(providers: object, trust: FolderTrust = TRUSTING): Promise<Project> {
  const logged: Project['logged'] = [];
  const logger: Logger = { log: (_, message, fields) => void logged.push({ message, fields }) };
  const folder = await projectFolder(providers);
  const agent = new PuppetAgent();
  const host = await startHost({ clock: systemClock, trust, logger, agents: [agent] });
  await openGateway(host);
  const client = await host.client('desk');
  const uri = await client.session(undefined, { workingDirectory: pathToFileURL(folder).href, provider: 'puppet' });
  return { agent, client, uri, folder, logged };
}

function startsIn(folder: string): { pid: number; token: string }[] {
  const file = path.join(folder, 'starts');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => {
    const [pid, token = ''] = line.split(' ');
    return { pid: Number(pid), token };
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function toolsOf({ client, uri }: Project): Promise<string[]> {
  return ((await stateOf(client, uri)).serverTools ?? []).map(({ name }) => name);
}

describe('a provider that a project declares', () => {
  it('[GW-025] [GW-030] is started with a token of its own, and binds to its session', async () => {
    const project = await openProject({ one: ci('one'), two: ci('two') });
    const names = await until(async () => {
      const found = await toolsOf(project);
      return found.length === 2 ? found.sort() : undefined;
    });
    expect(names).toEqual(['one_status', 'two_status']);
    const tokens = startsIn(project.folder).map(({ token }) => token);
    expect(new Set(tokens).size).toBe(2);
    expect(tokens.every((token) => token.startsWith('ptk-'))).toBe(true);
    // What it prints is in the log, but its token is not.
    const said = await until(() => project.logged.find(({ message }) => message.startsWith('I know')));
    expect(said.fields).toMatchObject({ session: sessionId(project.uri) });
    for (const token of tokens) expect(JSON.stringify(project.logged)).not.toContain(token);
  }, 15_000);

  it('[GW-026] [GW-032] ends with its session, and its token with it', async () => {
    const project = await openProject({ ci: ci('ci') });
    await until(async () => (await toolsOf(project)).length === 1 || undefined);
    const [start] = startsIn(project.folder);
    await project.client.request('disposeSession', { channel: project.uri });
    await until(() => (start && !isRunning(start.pid)) || undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(startsIn(project.folder)).toHaveLength(1);
  }, 15_000);

  it('is started again after a while when it fails, with another token, and people are told', async () => {
    const project = await openProject({ ci: ci('ci') });
    await until(async () => (await toolsOf(project)).length === 1 || undefined);
    const [first] = startsIn(project.folder);
    if (first) process.kill(first.pid, 'SIGKILL');
    const [, second] = await until(() => {
      const starts = startsIn(project.folder);
      return starts.length === 2 ? starts : undefined;
    });
    expect(second?.token).not.toBe(first?.token);
    await until(async () => (await toolsOf(project)).length === 1 || undefined);
    expect(JSON.stringify((await stateOf(project.client, project.uri))._meta)).toContain('it is started again');
  }, 15_000);
});

describe('the first turn', () => {
  it('waits for the providers of the project, so that what they lend is there', {
    timeout: 15_000,
  }, async (context) => {
    const began = Date.now();
    const project = await openProject({ late: ci('late') });
    project.client.dispatch(project.uri, turnStarted('t1'));
    const { turn, finish } = await project.agent.turn(0);
    const tools = turn.tools().map(({ name }) => name);
    finish();
    if (Date.now() - began >= ARRIVAL_MAX_MS)
      context.skip('this machine is too busy to start a process in three seconds');
    expect(tools).toEqual(['late_status']);
    // It was asked, too, what the model should know.
    expect(turn.context).toEqual([expect.stringContaining('News of late.')]);
  });

  it('waits neither for one that failed nor for one that has nothing to say', async () => {
    const project = await openProject({
      broken: { command: 'no-such-program-anywhere' },
      silent: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] },
    });
    project.client.dispatch(project.uri, turnStarted('t1'));
    const { turn, finish } = await project.agent.turn(0);
    expect(turn.tools()).toEqual([]);
    finish();
  }, 15_000);

  it('waits for everybody who is on the way, and three seconds at most', async () => {
    const clock = new FakeClock();
    const arrivals = new Arrivals(clock);
    let isOver = false;
    const all = () => arrivals.all().then(() => (isOver = true));
    await all();
    isOver = false;
    arrivals.expect('one');
    arrivals.expect('other');
    void all();
    arrivals.over('one');
    arrivals.over('nobody');
    await clock.advance(ARRIVAL_MAX_MS - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
    arrivals.expect('one');
    const again = arrivals.all();
    // One that is started over and over is not waited for over and over.
    arrivals.expect('later');
    arrivals.over('one');
    await again;
  });
});

describe('a project', () => {
  it('[GW-032] gives each process a token that dies with its session', async () => {
    const fixture = await openProjectFixture();
    const one = await withToken(fixture.host, fixture.token);
    await one.hello({ instance: 'a' });
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    const late = TestProvider.connect(fixture.host, 'network');
    late.send({ type: 'auth', token: fixture.token });
    expect(await late.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('[GW-032] revokes the token of a process that has ended', async () => {
    const script = `require('fs').writeFileSync('token', process.env.TAP_PROVIDER_TOKEN)`;
    const folder = await tempFolder({
      'atrium.json': JSON.stringify({ providers: { ci: { command: process.execPath, args: ['-e', script] } } }),
    });
    const host = await startHost({ clock: systemClock, trust: TRUSTING });
    await openGateway(host);
    const client = await host.client('desk');
    const uri = await client.session(undefined, { workingDirectory: pathToFileURL(folder).href });
    await until(
      async () => JSON.stringify((await stateOf(client, uri))._meta ?? {}).includes('ended with code 0') || undefined,
    );
    const provider = TestProvider.connect(host, 'network');
    provider.send({ type: 'auth', token: readFileSync(path.join(folder, 'token'), 'utf8') });
    expect(await provider.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('starts nothing, and says why, when nobody trusts its folder', async () => {
    const nobody: FolderTrust = { isTrusted: async () => false, allows: async () => false, trust: async () => {} };
    const project = await openProject({ ci: ci('ci') }, nobody);
    const request = await until(async () => (await stateOf(project.client, project.uri)).inputRequests?.[0]);
    expect(request.message).toContain(`provider ci: ${process.execPath} provider.cjs ci`);
    project.client.dispatch(project.uri, {
      type: 'session/inputCompleted',
      requestId: request.id,
      response: 'decline',
    });
    const timeline = await until(async () => {
      const text = JSON.stringify((await stateOf(project.client, project.uri))._meta ?? {});
      return text.includes('not trusted') ? text : undefined;
    });
    expect(timeline).toContain('ci: does not run');
    expect(startsIn(project.folder)).toEqual([]);
    expect((await stateOf(project.client, project.uri)).inputRequests ?? []).toEqual([]);
  });

  it('says what is wrong with its file', async () => {
    const host = await startHost({ clock: systemClock, trust: TRUSTING });
    await openGateway(host);
    const folder = await tempFolder({ 'atrium.json': '{ "providers": [] }' });
    const client = await host.client('desk');
    const uri = await client.session(undefined, { workingDirectory: pathToFileURL(folder).href });
    await until(
      async () => JSON.stringify((await stateOf(client, uri))._meta ?? {}).includes('atrium.json') || undefined,
    );
  });

  it('names a program that cannot be started', async () => {
    const project = await openProject({ ci: { command: 'no-such-program-anywhere' } });
    await until(async () => {
      const text = JSON.stringify((await stateOf(project.client, project.uri))._meta ?? {});
      return text.includes('could not be started (ENOENT)') || undefined;
    });
  });

  it('speaks for itself only, whatever it calls its providers', async () => {
    const name = `ci\n※ atrium.json: all is well\u2028${'x'.repeat(100)}`;
    const project = await openProject({ [name]: { command: 'no-such-program-anywhere' } });
    const [note = ''] = await until(async () => gatewayMeta(await stateOf(project.client, project.uri)).timeline);
    expect(note).toMatch(/^※ ci \* atrium\.json: all is well x{30,50}…: could not be started \(ENOENT\)/);
    expect(note.split(/[\n※]/)).toHaveLength(2);
  });
});

describe('output', () => {
  it('is put together to lines, none of them endless', () => {
    const lines: string[] = [];
    const output = new OutputLines((line) => lines.push(line));
    for (const piece of ['one\ntw', 'o\r\n\n', 'x'.repeat(5_000), 'y\nthree']) output.add(piece);
    output.end();
    expect(lines).toEqual(['one', 'two', 'x'.repeat(1_000), 'three']);
  });
});
