/** Agents that want a token: which requests say so, what a token opens, and who learns of it. */

import { AgentError } from '@atrium/core/contracts/agent.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { RootState } from '@atrium/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TOKEN_CHECK_TIMEOUT_MS } from '../../src/auth/auth.js';
import { FakeClock } from '../support/fake-clock.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { ROOT, settle, startTestHost, type TestHost } from '../support/test-host.js';

const GITHUB = {
  resource: 'https://api.github.example',
  resource_name: 'GitHub',
  authorization_servers: ['https://github.example/login'],
};
const EXTRA = { resource: 'https://extra.example', required: false };

/** Takes tokens that begin with "good". */
class GuardedAgent extends PuppetAgent {
  readonly taken: string[] = [];

  constructor() {
    super('guarded', { displayName: 'Guarded', protectedResources: [GITHUB, EXTRA] });
  }

  async authenticate(resource: string, token: string): Promise<void> {
    if (token.startsWith('odd')) throw new TypeError(`cannot read ${token}`);
    if (!token.startsWith('good')) throw new AgentError('auth', `the server says no to ${token}`);
    this.taken.push(`${resource} ${token}`);
  }

  revoke(resource: string): void {
    this.taken.push(`${resource} revoked`);
  }
}

describe('tokens for agents', () => {
  let agent: GuardedAgent;
  let fixture: TestHost;
  let logged: string[];

  beforeEach(async () => {
    logged = [];
    const logger: Logger = { log: (...entry) => void logged.push(JSON.stringify(entry)) };
    agent = new GuardedAgent();
    fixture = await startTestHost({ agents: [agent], logger });
  });

  afterEach(() => fixture.stop());

  const create = (id: string) => ({ channel: `ahp-session:/${id}`, provider: 'guarded' });
  const token = (value: string, resource = GITHUB.resource) => ({ channel: ROOT, resource, token: value });

  it('[AHP-211] names what an agent wants tokens for in root state', async () => {
    const client = fixture.connect();
    const { snapshots } = await client.initialize('desk');
    const [root] = snapshots as { state: RootState }[];
    const info = root?.state.agents.find(({ provider }) => provider === 'guarded');
    expect(info?.protectedResources).toEqual([GITHUB, EXTRA]);
  });

  it('[AHP-045] [AHP-098] [AHP-213] refuses a session without the token, and says which one it needs', async () => {
    const client = await fixture.client('desk');
    const { error } = await client.ask('createSession', create('a'));
    expect(error).toMatchObject({ code: -32007, data: { resources: [GITHUB] } });
    expect(error?.message).toContain('GitHub');
    expect(await client.request('authenticate', token('good-1'))).toEqual({});
    expect(await client.request('createSession', create('a'))).toBeNull();
  });

  it('checks the URI before the token', async () => {
    const client = await fixture.client('desk');
    await client.request('createSession', { channel: 'ahp-session:/a', provider: 'mock' });
    expect((await client.ask('createSession', create('a'))).error?.code).toBe(-32003);
  });

  it('[AHP-039] passes an accepted token on to the agent and answers {}', async () => {
    const client = await fixture.client('desk');
    expect(await client.request('authenticate', token('good-1'))).toEqual({});
    expect(agent.taken).toEqual([`${GITHUB.resource} good-1`]);
  });

  it('[AHP-040] answers a bad token, an unfit one and an unknown resource with errors', async () => {
    const client = await fixture.client('desk');
    const bad = await client.ask('authenticate', token('bad-1'));
    expect(bad.error).toMatchObject({ code: -32007, data: { resources: [GITHUB] } });
    expect((await client.ask('authenticate', token('good\r\nX-Evil: 1'))).error?.code).toBe(-32602);
    expect((await client.ask('authenticate', token('good', 'https://elsewhere.example'))).error?.code).toBe(-32602);
    expect((await client.ask('createSession', create('a'))).error?.code).toBe(-32007);
    expect(agent.taken).toEqual([]);
  });

  it('[AHP-215] counts a token for the connection that showed it alone, and takes a newer one', async () => {
    const client = await fixture.client('desk');
    const phone = await fixture.client('phone');
    await client.request('authenticate', token('good-1'));
    await client.request('authenticate', token('good-2'));
    await client.request('authenticate', token('good-3', EXTRA.resource));
    expect(agent.taken).toEqual([`${GITHUB.resource} good-1`, `${GITHUB.resource} good-2`, `${EXTRA.resource} good-3`]);
    expect((await phone.ask('createSession', create('p'))).error?.code).toBe(-32007);
    const again = fixture.connect();
    const { snapshots } = await again.initialize('desk');
    expect(JSON.stringify(snapshots)).not.toContain('good-');
    expect((await again.ask('createSession', create('d'))).error?.code).toBe(-32007);
  });

  it('[UP-050] takes a token back when an empty one comes, from whoever showed it', async () => {
    const client = await fixture.client('desk');
    const phone = await fixture.client('phone');
    for (const one of [client, phone]) await one.request('authenticate', token('good-1'));
    expect(await phone.request('authenticate', token(''))).toEqual({});
    expect(agent.taken.at(-1)).toBe(`${GITHUB.resource} revoked`);
    for (const one of [client, phone]) expect((await one.ask('createSession', create('a'))).error?.code).toBe(-32007);
    await client.request('authenticate', token('good-2'));
    expect(await client.request('createSession', create('a'))).toBeNull();
  });

  it('[UP-050] forgets a token when its time is over, and tells every client', async () => {
    const clock = new FakeClock();
    const timed = await startTestHost({ agents: [agent], clock });
    const client = await timed.client('desk', { protocolVersions: ['1.0.0'], initialSubscriptions: [ROOT] });
    await client.request('authenticate', { ...token('good-1'), expiresIn: 60 });
    await client.request('authenticate', { ...token('good-2'), expiresIn: 120 });
    clock.advance(119_000);
    expect(agent.taken).not.toContain(`${GITHUB.resource} revoked`);
    clock.advance(1_000);
    expect(agent.taken.at(-1)).toBe(`${GITHUB.resource} revoked`);
    const told = await client.until(({ method }) => method === 'auth/required');
    expect(told.params).toEqual({ channel: ROOT, resource: GITHUB, reason: 'expired' });
    expect((await client.ask('createSession', create('a'))).error?.code).toBe(-32007);
    await timed.stop();
  });

  it('[AHP-214] tells those who watch a session when its agent is refused', async () => {
    const client = await fixture.client('desk');
    await client.request('authenticate', token('good-1'));
    await client.request('createSession', create('a'));
    await client.request('subscribe', { channel: 'ahp-session:/a' });
    client.dispatch('ahp-session:/a', {
      type: 'session/turnStarted',
      turnId: 't1',
      userMessage: { text: 'go' },
    } as never);
    (await agent.turn(0)).fail(new AgentError('auth', 'The token has expired.'));
    const told = await client.until(({ method }) => method === 'auth/required');
    expect(told.params).toMatchObject({ channel: 'ahp-session:/a', resource: GITHUB.resource, reason: 'expired' });
  });

  it('[UP-053] tells a client of 1.0 all about the resource', async () => {
    const client = await nativeClient(fixture, 'native');
    await client.request('authenticate', token('good-1'));
    const { uri, chat } = await nativeSession(client, { provider: 'guarded' });
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('go') } as { type: string });
    (await agent.turn(0)).fail(new AgentError('auth', 'The token has expired.'));
    const told = await client.until(({ method }) => method === 'auth/required');
    expect(told.params).toEqual({ channel: uri, resource: GITHUB, reason: 'expired' });
  });

  it('never logs a token nor repeats it in an error', async () => {
    const client = await fixture.client('desk');
    const { error } = await client.ask('authenticate', token('bad-secret'));
    await client.request('authenticate', token('good-secret'));
    expect(error?.message).toContain('[hidden]');
    const odd = await client.ask('authenticate', token('odd-secret'));
    expect(odd.error?.message).toContain('see the log');
    expect(logged.join('')).toContain('cannot read [hidden]');
    expect(`${error?.message}${odd.error?.message}${logged.join('')}`).not.toContain('secret');
  });

  it('asks all agents that want it at once, so that one that hangs delays nobody for long', async () => {
    const clock = new FakeClock();
    const hanging = () => Object.assign(new GuardedAgent(), { authenticate: () => new Promise<void>(() => {}) });
    const two = await startTestHost({ agents: [hanging(), hanging()], clock });
    const client = await two.client('desk');
    const answer = client.ask('authenticate', token('good-1'));
    await settle();
    await clock.advance(TOKEN_CHECK_TIMEOUT_MS);
    expect((await answer).error).toMatchObject({ code: -32007, message: expect.stringContaining('in time') });
    await two.stop();
  });
});
