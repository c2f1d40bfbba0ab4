import type { GateVerdict } from '@atrium/core/contracts/extension.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { type Envelope, envelopesOf, stateOf, turnStarted } from '../support/session-fixture.js';
import { type RawClient, settle, startTestHost } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';
import { answer, callState, extension, openGate } from './support.js';

const EVENTS = ['approve', 'deny', 'edit', 'cancel', 'pass', 'refuse', 'finish', 'time', 'phone-denies'] as const;
type Event = (typeof EVENTS)[number];

const TERMINAL = new Set(['completed', 'cancelled']);
const REFUSED: GateVerdict = { kind: 'deny', reason: 'no' };

/** Plays events against one call, in an order and at distances that nobody planned. */
async function play(events: readonly { event: Event; pause: boolean }[]) {
  const clock = new FakeClock();
  const agent = new PuppetAgent();
  const gate = openGate('ci-watcher');
  let finish = (_text: string): void => {};
  const work = () =>
    new Promise<string>((resolve) => {
      finish = resolve;
    });
  const tool = echoTool('write', { confirmation: { title: 'Sure?', editable: true }, work });
  const host = await startTestHost({
    clock,
    agents: [agent],
    tools: [tool],
    extensions: [extension('w', { gates: [gate] })],
  });
  const client = await host.client('desk');
  const uri = await client.session(undefined, { provider: 'puppet' });
  const phone = await host.client('phone');
  await phone.request('subscribe', { channel: uri });
  client.dispatch(uri, turnStarted('t1'));
  const { turn } = await agent.turn(0);
  const outcome = turn.callTool({ id: 'c1', name: 'write', input: {} }).catch(() => 'turn over');
  const acts: Record<Event, () => unknown> = {
    approve: () => client.dispatch(uri, answer(true)),
    deny: () => client.dispatch(uri, answer(false)),
    edit: () => client.dispatch(uri, answer(true, { editedToolInput: '{"a":1}' })),
    'phone-denies': () => phone.dispatch(uri, answer(false)),
    cancel: () => phone.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' }),
    pass: () => gate.answer({ kind: 'pass' }),
    refuse: () => gate.answer(REFUSED),
    finish: () => finish('done'),
    time: () => clock.advance(5_000),
  };
  for (const { event, pause } of events) {
    await acts[event]();
    if (pause) await settle(2);
  }
  // Whatever is still open now comes to its end.
  gate.answer({ kind: 'pass' });
  await settle();
  for (const last of ['approve', 'finish'] as const) {
    acts[last]();
    await settle();
  }
  const result = await outcome;
  return { client, phone, uri, host, tool, result, gate };
}

/** How often the call came to an end, as a client saw it happen. */
function endings(client: RawClient, uri: string): string[] {
  const taken = envelopesOf(client, uri).filter(({ rejectionReason }: Envelope) => rejectionReason === undefined);
  return taken.flatMap(({ action }) => {
    if (action.type === 'session/toolCallComplete') return ['completed'];
    if (action.type === 'session/toolCallConfirmed' && action.approved === false) return ['denied'];
    return action.type === 'session/turnCancelled' ? ['skipped'] : [];
  });
}

describe('a call that everybody pulls at', () => {
  it('[UNI-045] ends once, the same for everybody, and runs only when nobody objected first', async () => {
    const step = fc.record({ event: fc.constantFrom(...EVENTS), pause: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (events) => {
        const { client, phone, uri, host, tool, result, gate } = await play(events);
        const [mine, theirs] = [await stateOf(client, uri), await stateOf(phone, uri)];
        expect(theirs).toEqual(mine);
        const call = await callState(client, uri);
        expect(TERMINAL.has(call?.status ?? '')).toBe(true);
        const [first, ...more] = endings(phone, uri);
        // A turn that is cancelled after the call is over does not end the call a second time.
        expect(more.filter((ending) => ending !== 'skipped')).toEqual([]);
        expect(first).toBeDefined();
        expect(tool.runs.length).toBeLessThanOrEqual(1);
        if (first === 'denied') expect(tool.runs).toEqual([]);
        if (tool.runs.length > 0) expect(gate.asked.at(-1)?.input).toEqual(tool.runs[0]);
        if (result !== 'turn over') {
          expect(result).toMatchObject({ kind: call?.status === 'completed' ? 'completed' : 'denied' });
        }
        await host.stop();
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
