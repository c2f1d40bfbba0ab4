import { describe, expect, it } from 'vitest';
import type { AgentOpenContext, AgentSession } from '../../src/agents/agent.js';
import { AGENT_CLOSE_MAX_MS, IDLE_SESSION_MS } from '../../src/limits.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openRoom, turnStarted } from '../support/session-room.js';
import { settle } from '../support/test-host.js';

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

async function stubbornRoom() {
  const agent = new StubbornAgent();
  return { ...(await openRoom({ agent, session: { provider: 'puppet' } })), agent };
}

describe('an agent that does not end', () => {
  it('is not waited for beyond a limit when the host stops', async () => {
    const { host, clock } = await stubbornRoom();
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
    const { desk, uri, agent, clock } = await stubbornRoom();
    desk.send({ method: 'unsubscribe', params: { channel: uri } });
    await settle();
    await clock.advance(IDLE_SESSION_MS);
    await desk.request('subscribe', { channel: uri });
    desk.dispatch(uri, turnStarted('t1'));
    await desk.action(uri, 'session/turnStarted');
    await settle();
    expect(agent.openings).toHaveLength(1);
    agent.isStubborn = false;
    agent.end();
    (await agent.turn(0)).finish();
    await desk.action(uri, 'session/turnComplete');
    expect(agent.openings).toHaveLength(2);
  });
});

describe('a host that stops', () => {
  it('does so once, however often it is asked', async () => {
    const { host, agent } = await openRoom({ session: { provider: 'puppet' } });
    await Promise.all([host.stop(), host.stop()]);
    expect(agent.closings).toBe(1);
  });
});
