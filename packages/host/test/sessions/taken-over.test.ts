import { LogFencedError } from '@atrium/core/log/log.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { openPuppetFixture } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

/** A fixture on a log that another host has written to, and what is still tried to be written there. */
async function takenOver() {
  let attempts = 0;
  class TakenLog extends KeptLog {
    isTaken = false;

    override async append(commit: Parameters<KeptLog['append']>[0]) {
      attempts++;
      if (this.isTaken) throw new LogFencedError('another host has written to it');
      return super.append(commit);
    }
  }
  const log = new TakenLog();
  const lines: string[] = [];
  const logger = { log: (_level: string, message: string) => void lines.push(message) };
  const fixture = await openPuppetFixture({ log, logger });
  log.isTaken = true;
  attempts = 0;
  return { ...fixture, log, lines, attempts: () => attempts };
}

describe('a host whose log another one writes to', () => {
  it('stops, says why, and sends everybody away', async () => {
    const { client, puppet, host, lines } = await takenOver();
    puppet.turn.text('too late');
    const reason = await host.host.failed;
    expect(reason).toBeInstanceOf(LogFencedError);
    expect(reason.message).toContain('another host has written to it');
    expect((await client.untilClosed()).code).toBe(CloseCode.GoingAway);
    expect(lines).toContain('another host has taken over the log: this one stops');
  });

  it('stops its agents, and tries nothing again', async () => {
    const { puppet, agent, host, clock, attempts } = await takenOver();
    puppet.turn.text('too late');
    await host.host.failed;
    await host.stop();
    expect([puppet.turn.signal.aborted, agent.closings]).toEqual([true, 1]);
    await clock.advance(60_000);
    expect([attempts(), clock.pending]).toEqual([1, 0]);
  });

  it('takes nobody in any more', async () => {
    const { puppet, host } = await takenOver();
    puppet.turn.text('too late');
    await host.host.failed;
    const phone = host.connect();
    phone.send({ id: 1, method: 'ping' });
    await settle();
    expect(phone.closed).toEqual({ code: CloseCode.GoingAway, reason: 'the host has stopped' });
    expect(phone.received).toEqual([]);
  });
});
