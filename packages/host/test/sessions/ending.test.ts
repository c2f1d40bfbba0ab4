import type { AgentOpenContext, AgentSession } from '@atrium/core/contracts/agent.js';
import { AGENT_CLOSE_MAX_MS, IDLE_SESSION_MS } from '@atrium/core/sessions/limits.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openFixture, startHost, turnStarted } from '../support/session-fixture.js';
import { settle, startTestHost } from '../support/test-host.js';

/** Takes as long to end as the test wants. */
class StubbornAgent extends PuppetAgent {
  isStubborn = true;
  end: () => void = () => {};

  override async open(context: AgentOpenContext): Promise<AgentSession> {
    const session = await super.open(context);
    return {
      ...session,
      close: () =>
        new Promise((resolve) => {
          this.end = resolve;
          if (!this.isStubborn) resolve();
        }),
    };
  }
}

async function stubbornFixture() {
  const agent = new StubbornAgent();
  return { ...(await openFixture({ agent, session: { provider: 'puppet' } })), agent };
}

/** Learns late what it is called. */
class NewsyAgent extends PuppetAgent {
  #changed: () => void = () => {};

  whenInfoChanges(changed: () => void): void {
    this.#changed = changed;
  }

  rename(name: string): void {
    this.info.displayName = name;
    this.#changed();
  }
}

/** A log that lets a host begin to start, and no more. */
class BreakableLog extends KeptLog {
  isBroken = false;

  override async records(prefix: string) {
    if (this.isBroken && prefix === 'client:') throw new Error('the disk cannot be read');
    return super.records(prefix);
  }
}

describe('an agent that does not end', () => {
  it('is not waited for beyond a limit when the host stops', async () => {
    const { host, clock } = await stubbornFixture();
    let isStopped = false;
    const stopped = host.stop().then(() => {
      isStopped = true;
    });
    await settle();
    await clock.advance(AGENT_CLOSE_MAX_MS - 1);
    expect(isStopped).toBe(false);
    await clock.advance(1);
    await stopped;
    expect(clock.pending).toBe(0);
  });

  it('is not joined by a second one when its session comes back', async () => {
    const { client, uri, agent, clock } = await stubbornFixture();
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(IDLE_SESSION_MS);
    await client.request('subscribe', { channel: uri });
    client.dispatch(uri, turnStarted('t1'));
    await client.action(uri, 'session/turnStarted');
    await settle();
    expect(agent.openings).toHaveLength(1);
    agent.isStubborn = false;
    agent.end();
    (await agent.turn(0)).finish();
    await client.action(uri, 'session/turnComplete');
    expect(agent.openings).toHaveLength(2);
  });

  it('does not begin any more once its host stops', async () => {
    const { client, uri, agent, clock, host } = await stubbornFixture();
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(IDLE_SESSION_MS);
    await client.request('subscribe', { channel: uri });
    client.dispatch(uri, turnStarted('t1'));
    await client.action(uri, 'session/turnStarted');
    const stopped = host.stop();
    agent.end();
    await stopped;
    expect(agent.openings).toHaveLength(1);
  });
});

describe('a host that stops', () => {
  it('does so once, however often it is asked', async () => {
    const { host, agent } = await openFixture({ session: { provider: 'puppet' } });
    await Promise.all([host.stop(), host.stop()]);
    expect(agent.closings).toBe(1);
  });

  it('has nothing more to say, even when one of its agents has', async () => {
    const agent = new NewsyAgent();
    const lines: string[] = [];
    const logger = { log: (_level: string, message: string) => void lines.push(message) };
    const { host, clock } = await openFixture({ agent, logger });
    await host.stop();
    lines.length = 0;
    agent.rename('Another name');
    await clock.advance(60_000);
    expect([lines, clock.pending]).toEqual([[], 0]);
  });
});

describe('a host that cannot start', () => {
  it('leaves nothing running behind', async () => {
    const log = new BreakableLog();
    const [clock, agent] = [new FakeClock(), new PuppetAgent()];
    agent.opening = new Promise(() => {});
    const first = await startHost({ log, clock, agents: [agent] });
    const client = await first.client('desk');
    await client.request('createSession', { channel: 'ahp-session:/begun', provider: 'puppet' });
    await expect.poll(() => agent.openings.length).toBe(1);
    await first.stop();
    log.isBroken = true;
    await expect(startTestHost({ log, clock, agents: [agent] })).rejects.toThrow('cannot be read');
    expect(agent.openings.every(({ signal }) => signal.aborted)).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
