/** Many calls at once: what one of them costs must not depend on how many others there are. */

import type { Step } from '@atrium/core/channels/channel.js';
import { TurnRunner } from '@atrium/core/sessions/turn.js';
import { NO_CALL, Waiters } from '@atrium/core/sessions/waiters.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPuppetFixture } from '../support/session-fixture.js';
import { echoTool } from '../support/tools.js';

function stepOf(action: object): Step<ChatState> {
  return { action, after: {} } as unknown as Step<ChatState>;
}

const ids = Array.from({ length: 100 }, (_, index) => `c${index}`);

describe('waiting for calls', () => {
  it('wakes only who waits for the call that a step is about', async () => {
    const waiters = new Waiters();
    let looks = 0;
    const waiting = ids.map((id) => waiters.wait([id], () => ++looks));
    for (const id of ids) waiters.observe(stepOf({ type: 'chat/toolCallComplete', toolCallId: id }));
    await Promise.all(waiting);
    expect(looks).toBe(ids.length);
  });

  it('for several things ends with the first, and no step is looked at afterwards', async () => {
    const waiters = new Waiters();
    let looks = 0;
    const waiting = waiters.wait(['c1', NO_CALL], () => ++looks);
    waiters.observe(stepOf({ type: 'chat/toolCallDelta', toolCallId: 'c2' }));
    waiters.recheck({} as ChatState);
    waiters.observe(stepOf({ type: 'chat/toolCallDelta', toolCallId: 'c1' }));
    expect([await waiting, looks]).toEqual([1, 1]);
  });

  it('ends with an error when the turn is over', async () => {
    const waiters = new Waiters();
    const waiting = waiters.wait(['c1', NO_CALL], () => undefined);
    waiters.abandon();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('calls that run side by side', () => {
  async function looksFor(count: number): Promise<number> {
    const { puppet } = await openPuppetFixture({ tools: [echoTool('echo')] });
    const find = vi.spyOn(TurnRunner.prototype, 'call');
    onTestFinished(() => find.mockRestore());
    find.mockClear();
    await Promise.all(ids.slice(0, count).map(() => puppet.turn.callTool({ name: 'echo', input: {} })));
    return find.mock.calls.length;
  }

  it('are looked for as often as there are more of them, and not more often', async () => {
    const few = await looksFor(10);
    expect(await looksFor(100)).toBe(few * 10);
  });
});
