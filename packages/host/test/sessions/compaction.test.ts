import { COMPACT_EVERY_ENTRIES } from '@atrium/core/log/compaction.js';
import { REPLAY_MAX_ENVELOPES } from '@atrium/core/log/limits.js';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { openFixture, openPuppetFixture, startHost, stateOf } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

const TIMEOUT_MS = 60_000;

describe('the log', () => {
  it('does not grow because of a session that nobody opens any more', { timeout: TIMEOUT_MS }, async () => {
    const log = new KeptLog();
    const first = await openFixture({ log, session: { provider: 'puppet' } });
    const { client, uri, host, clock } = first;
    client.dispatch(uri, { type: 'session/titleChanged', title: 'Old' });
    await client.action(uri, 'session/titleChanged');
    await host.stop();
    const old = log.head;
    const second = await openPuppetFixture({ log, clock, joinText: false });
    for (let count = 0; count <= COMPACT_EVERY_ENTRIES; count++) second.puppet.turn.text('x');
    await expect.poll(() => log.oldest, { timeout: 20_000 }).toBeGreaterThan(old);
    expect((await stateOf(second.client, uri)).summary.title).toBe('Old');
  });

  it('does not grow because of a turn that goes on and on', { timeout: TIMEOUT_MS }, async () => {
    const log = new KeptLog();
    const { puppet, host, uri, clock } = await openPuppetFixture({ log, joinText: false });
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < COMPACT_EVERY_ENTRIES; count++) puppet.turn.text('x');
      await settle(20);
    }
    await expect
      .poll(() => log.head - log.oldest, { timeout: 20_000 })
      .toBeLessThan(COMPACT_EVERY_ENTRIES + REPLAY_MAX_ENVELOPES + 100);
    await host.stop();
    const again = await (await startHost({ log, clock })).client('phone');
    const [turn] = (await stateOf(again, uri)).turns;
    expect(turn?.responseParts).toMatchObject([{ content: 'x'.repeat(2 * COMPACT_EVERY_ENTRIES) }]);
  });
});
