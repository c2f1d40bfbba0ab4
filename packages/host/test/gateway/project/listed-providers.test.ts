/** Names and gates of the providers that a trusted folder lists. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { RECONNECT_WINDOW_MS } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { PROJECT_PROVIDERS_MAX } from '../../../src/gateway/project/project-providers.js';
import { type FolderTrust, TrustedFolders } from '../../../src/plugins/trust/folder-trust.js';
import { builtinTools } from '../../../src/workspace/tools/builtin.js';
import { openGateway, openProjectFixture, pair, until, withToken } from '../../support/gateway-connections.js';
import { startHost, stateOf, turnStarted } from '../../support/session-fixture.js';
import { tempFolder } from '../../support/temp-folder.js';
import { settle } from '../../support/test-host.js';
import {
  letIn,
  openProjectHost,
  openProjectWith,
  type ProjectHost,
  type ProjectSession,
} from '../hostile/support/project-host.js';

const WRITE = { name: 'write_file', input: { path: 'a.txt', content: 'x' } };
const LIST = { name: 'list_files', input: {} };
const SHELL = { name: 'shell', input: { command: 'true' } };
const DENY_SHELL = { hooks: { onPreToolUse: [{ match: { tool: 'shell' }, action: 'deny', reason: 'never' }] } };
const CLOSED = {
  kind: 'denied',
  reason: expect.stringContaining('ci guards this tool in this folder and is not connected'),
};

async function openGuarded(more: object = {}) {
  const project = await openProjectHost({ tools: builtinTools() });
  const session = await openProjectWith(project, more, 'ci');
  const { turn } = await session.turn();
  return { project, session, attempt: attemptsIn(project, session, turn) };
}

/** What becomes of a call before a person is asked about it. */
function attemptsIn(project: ProjectHost, session: Pick<ProjectSession, 'uri'>, turn: AgentTurn) {
  return async (call: { name: string; input: object }) => {
    const id = `c-${crypto.randomUUID()}`;
    const outcome = turn.callTool({ id, ...call });
    const asked = until(async () => {
      const parts = (await stateOf(project.client, session.uri)).activeTurn?.responseParts ?? [];
      const found = parts.find((part) => part.kind === 'toolCall' && part.toolCall.toolCallId === id);
      return found?.kind === 'toolCall' && found.toolCall.status === 'pending-confirmation' ? 'asked' : undefined;
    });
    void outcome.catch(() => {});
    return Promise.race([outcome, asked]);
  };
}

/** What becomes of a command once the host has heard that a line has ended, which the system tells it in its own time. */
function shellWhenGone(project: ProjectHost, attempt: ReturnType<typeof attemptsIn>) {
  return until(async () => {
    await project.clock.advance(RECONNECT_WINDOW_MS + 1);
    const outcome = await attempt(SHELL);
    return JSON.stringify(outcome).includes('is not connected') ? outcome : undefined;
  });
}

describe('the name of a provider that a trusted folder lists', { timeout: 30_000 }, () => {
  it.each(['ci', 'CI'])('[REL-056] is not for a stranger, however it is written (%s)', async (name) => {
    const fixture = await openProjectFixture('ci');
    const { provider } = await pair(fixture);
    provider.send({ type: 'hello', name, protocolVersion: 2 });
    expect(await provider.next('error')).toMatchObject({
      code: 'UNAUTHORIZED',
      message: "the name ci belongs to a provider of this session's folder: use another name",
    });
    const own = await withToken(fixture.host, fixture.token);
    await own.hello({ name: 'ci' });
    await provider.hello({ name: 'browser' });
  });

  it('[REL-056] is not for another provider of the same folder', async () => {
    const project = await openProjectHost();
    const session = await openProjectWith(project, {}, 'ci', 'docs');
    const docs = await letIn(project, session.token('docs'));
    docs.send({ type: 'hello', name: 'ci', protocolVersion: 2 });
    expect(await docs.next('error')).toMatchObject({ code: 'UNAUTHORIZED' });
    await docs.hello({ name: 'docs' });
  });

  it('[REL-056] is taken from a stranger who had it before anybody trusted the folder', async () => {
    const script = `require('fs').writeFileSync('token', process.env.TAP_PROVIDER_TOKEN); setInterval(() => {}, 1e6)`;
    const providers = { ci: { command: process.execPath, args: ['-e', script] } };
    const folder = await tempFolder({ 'atrium.json': JSON.stringify({ providers }) });
    const trust = new TrustedFolders(path.join(await tempFolder(), 'trusted.json'));
    const host = await startHost({ clock: systemClock, trust });
    await openGateway(host);
    const client = await host.client('desk');
    const uri = await client.session(undefined, { workingDirectory: pathToFileURL(folder).href });
    const { provider } = await pair({ host, client, uri });
    await provider.hello({ name: 'ci', tools: [{ name: 'ci_status', description: 'CI', parameters: {} }] });
    const question = await until(async () =>
      (await stateOf(client, uri)).inputRequests?.find(({ id }) => id.startsWith('trust-')),
    );
    client.dispatch(uri, { type: 'session/inputCompleted', requestId: question.id, response: 'accept' });
    expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED' });
    await until(async () => ((await stateOf(client, uri)).serverTools ?? []).length === 0 || undefined);
    const file = path.join(folder, 'token');
    const token = await until(() => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined));
    const own = await withToken(host, token);
    await own.hello({ name: 'ci' });
  });
});

describe('a provider that a trusted folder lists and that is not there', { timeout: 30_000 }, () => {
  it('[REL-056] closes what may change something before anybody knows what it guards, and opens it again', async () => {
    const { project, session, attempt } = await openGuarded();
    expect(await attempt(WRITE)).toMatchObject(CLOSED);
    expect(await attempt(LIST)).toMatchObject({ kind: 'completed', success: true });
    const state = await stateOf(project.client, session.uri);
    const entry = state.customizations?.find(({ id }) => id === 'gateway-provider:/ci');
    expect(entry?.load).toEqual({
      kind: 'error',
      message: 'Not connected. Closed until it is: anything that changes something',
    });
    expect(JSON.stringify(state)).toContain('is not connected; closed until it is');
    const ci = await letIn(project, session.token('ci'));
    await ci.hello({ name: 'ci' });
    expect(await attempt(WRITE)).toBe('asked');
    await settle();
    const after = (await stateOf(project.client, session.uri)).customizations;
    expect(after?.find(({ id }) => id === 'gateway-provider:/ci')?.load).toEqual({ kind: 'loaded' });
  });

  it('[REL-056] closes what it guarded when it was last there, and nothing else', async () => {
    const { project, session, attempt } = await openGuarded();
    const ci = await letIn(project, session.token('ci'));
    await ci.hello({ name: 'ci', ...DENY_SHELL });
    expect(await attempt(SHELL)).toMatchObject({ kind: 'denied', reason: expect.stringContaining('never') });
    ci.drop();
    expect(await shellWhenGone(project, attempt)).toMatchObject(CLOSED);
    expect(await attempt(WRITE)).toBe('asked');
  });

  it('[REL-056] closes what it guarded, whatever one that is declared alike in another folder guards', async () => {
    const { project, session, attempt } = await openGuarded();
    const ci = await letIn(project, session.token('ci'));
    await ci.hello({ name: 'ci', ...DENY_SHELL });
    ci.send({ type: 'goodbye' });
    await ci.untilClosed();
    const other = await openProjectWith(project, {}, 'ci');
    await (await letIn(project, other.token('ci'))).hello({ name: 'ci' });
    expect(await attempt(SHELL)).toMatchObject(CLOSED);
  });

  it('[REL-056] closes what all instances of it guarded', async () => {
    const { project, session, attempt } = await openGuarded();
    const instances = [
      { name: 'ci', instance: 'one', ...DENY_SHELL },
      { name: 'ci', instance: 'two' },
    ];
    const lines = [];
    for (const instance of instances) {
      const ci = await letIn(project, session.token('ci'));
      await ci.hello(instance);
      lines.push(ci);
    }
    for (const ci of lines) ci.drop();
    expect(await shellWhenGone(project, attempt)).toMatchObject(CLOSED);
  });

  it('[REL-056] closes what an instance guarded that left before another one came without rules', async () => {
    const { project, session, attempt } = await openGuarded();
    for (const instance of [{ instance: 'one', ...DENY_SHELL }, { instance: 'two' }]) {
      const ci = await letIn(project, session.token('ci'));
      await ci.hello({ name: 'ci', ...instance });
      ci.send({ type: 'goodbye' });
      await ci.untilClosed();
    }
    expect(await attempt(SHELL)).toMatchObject(CLOSED);
    expect(await attempt(WRITE)).toBe('asked');
  });

  it('[REL-056] closes nothing that an instance no longer guards', async () => {
    const { project, session, attempt } = await openGuarded();
    for (const rules of [DENY_SHELL, {}]) {
      const ci = await letIn(project, session.token('ci'));
      await ci.hello({ name: 'ci', instance: 'one', ...rules });
      ci.send({ type: 'goodbye' });
      await ci.untilClosed();
    }
    expect(await attempt(SHELL)).toBe('asked');
  });

  it('[REL-056] closes what it guards also when its file lists more providers than the host starts', async () => {
    const project = await openProjectHost({ tools: builtinTools() });
    const entry = (guards: readonly string[]) => ({ command: 'no-such-program-of-atrium', guards });
    const all = Array.from({ length: PROJECT_PROVIDERS_MAX }, (_, index) => [`p${index}`, entry([])]);
    const providers = Object.fromEntries([...all, ['ci', entry(['shell'])]]);
    const folder = await tempFolder({ 'atrium.json': JSON.stringify({ providers }) });
    const workingDirectory = pathToFileURL(folder).href;
    const uri = await project.client.session(undefined, { provider: 'puppet', workingDirectory });
    await until(async () => {
      await project.clock.advance(1_000);
      const text = JSON.stringify(await stateOf(project.client, uri));
      return text.includes('lists 21 providers; the host starts the first 20 only') || undefined;
    });
    project.client.dispatch(uri, turnStarted('t-1'));
    const { turn } = await project.agent.turn(project.agent.turns.length);
    expect(await attemptsIn(project, { uri }, turn)(SHELL)).toMatchObject(CLOSED);
  });

  it('[REL-056] closes what it guarded also when it was refused before it was trusted', async () => {
    const trust = new TrustedFolders(path.join(await tempFolder(), 'trusted.json'));
    let isAllowed = false;
    const changing: FolderTrust = {
      isTrusted: async () => true,
      allows: async () => isAllowed,
      trust: (folder) => trust.trust(folder, []),
      watch: (changed) => trust.watch(changed),
    };
    const project = await openProjectHost({ tools: builtinTools(), trust: changing });
    const opening = openProjectWith(project, {}, 'ci');
    const { client } = project;
    const uri = await until(async () => {
      const { items } = await client.request<{ items: { resource: string }[] }>('listSessions', {
        channel: 'ahp-root://',
      });
      return items[0]?.resource;
    });
    const { id } = await until(async () => (await stateOf(client, uri)).inputRequests?.[0]);
    client.dispatch(uri, { type: 'session/inputCompleted', requestId: id, response: 'decline' });
    await until(async () => !(await stateOf(client, uri)).inputRequests?.length || undefined);
    isAllowed = true;
    await trust.trust(await tempFolder(), []);
    const session = await opening;
    const attempt = attemptsIn(project, session, (await session.turn()).turn);
    const ci = await letIn(project, session.token('ci'));
    await ci.hello({ name: 'ci', ...DENY_SHELL });
    ci.send({ type: 'goodbye' });
    await ci.untilClosed();
    expect(await attempt(SHELL)).toMatchObject(CLOSED);
  });

  it('[REL-056] closes what it guarded also when it said goodbye', async () => {
    const { project, session, attempt } = await openGuarded();
    const ci = await letIn(project, session.token('ci'));
    await ci.hello({ name: 'ci', ...DENY_SHELL });
    ci.send({ type: 'goodbye' });
    await ci.untilClosed();
    expect(await attempt(SHELL)).toMatchObject(CLOSED);
  });

  it('[REL-056] closes what its file says that it guards', async () => {
    const { attempt } = await openGuarded({ guards: ['shell'] });
    expect(await attempt(SHELL)).toMatchObject(CLOSED);
    expect(await attempt(WRITE)).toBe('asked');
  });

  it('[REL-056] closes nothing when its file says so', async () => {
    const { attempt } = await openGuarded({ guards: [] });
    expect(await attempt(SHELL)).toBe('asked');
  });

  it('[REL-056] closes nothing once a person has switched it off', async () => {
    const { project, session, attempt } = await openGuarded();
    expect(await attempt(WRITE)).toMatchObject(CLOSED);
    const id = 'gateway-provider:/ci';
    project.client.dispatch(session.uri, { type: 'session/customizationToggled', id, enabled: false });
    await settle();
    expect(await attempt(WRITE)).toBe('asked');
    project.client.dispatch(session.uri, { type: 'session/customizationToggled', id, enabled: true });
    await settle();
    expect(await attempt(WRITE)).toMatchObject(CLOSED);
  });
});
