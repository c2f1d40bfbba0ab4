/** A call of a client's tool, while its owner comes and goes, another client wants it, and people and gates decide. */

import { CLIENT_GRACE_MS } from '@atrium/core/sessions/limits.js';
import type { ToolDefinition } from '@atrium/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { callsIn, envelopesOf, stateOf, turnStarted } from '../support/session-fixture.js';
import { type RawClient, settle, startTestHost, type TestHost } from '../support/test-host.js';
import { answer, extension, openGate } from './support.js';

/** Twice is not the same as once. */
const DIG: ToolDefinition = { name: 'dig' };
const RESULT = { success: true, pastTenseMessage: 'Dug', content: [{ type: 'text' as const, text: 'a hole' }] };

const EVENTS = [
  ...(['done', 'unknown', 'leave', 'return', 'take', 'drop', 'agree', 'disagree'] as const),
  ...(['pass', 'object', 'time', 'cancel'] as const),
] as const;
type Event = (typeof EVENTS)[number];

/** The two clients that may have the tool, as far as they are here. */
class Owners {
  readonly #here = new Map<string, RawClient>();

  constructor(
    private readonly host: TestHost,
    private readonly uri: string,
  ) {}

  add(client: RawClient): void {
    this.#here.set(client.clientId, client);
  }

  async join(clientId: string): Promise<void> {
    if (!this.#here.has(clientId)) {
      const client = await this.host.client(clientId);
      await client.request('subscribe', { channel: this.uri });
      this.add(client);
    }
    const activeClient = { clientId, tools: [DIG] };
    this.#here.get(clientId)?.dispatch(this.uri, { type: 'session/activeClientChanged', activeClient });
  }

  leave(clientId: string): void {
    this.#here.get(clientId)?.disconnect();
    this.#here.delete(clientId);
  }

  of(clientId: string | undefined): RawClient | undefined {
    return this.#here.get(clientId ?? '');
  }
}

/** Plays events in an order and at distances that nobody planned. */
async function play(events: readonly { event: Event; pause: boolean }[]) {
  const clock = new FakeClock();
  const agent = new PuppetAgent();
  const gate = { ...openGate('ci-watcher'), timeoutMs: 10 * CLIENT_GRACE_MS };
  const takesItsTime = () => settle(1);
  const told = { outsideCallBegins: takesItsTime, outsideCallEnds: takesItsTime };
  const extensions = [extension('w', { gates: [gate], ...told })];
  const host = await startTestHost({ clock, agents: [agent], tools: [], extensions });
  const watch = await host.client('tablet');
  const uri = await watch.session(undefined, { provider: 'puppet' });
  const owners = new Owners(host, uri);
  await owners.join('desk');
  watch.dispatch(uri, turnStarted('t1'));
  const { turn } = await agent.turn(0);
  const outcome = turn.callTool({ id: 'c1', name: 'dig', input: {} }).catch(() => 'turn over' as const);
  const calls = async () => callsIn((await stateOf(watch, uri)).activeTurn?.responseParts);
  const byOwner = async (action: object) => {
    for (const { status, toolCallId, toolClientId } of await calls())
      if (status === 'running')
        owners.of(toolClientId)?.dispatch(uri, { turnId: 't1', toolCallId, ...action } as never);
  };
  const byPerson = async (approved: boolean) => {
    for (const { toolCallId } of await calls()) watch.dispatch(uri, { ...answer(approved), toolCallId } as never);
  };
  const acts: Record<Event, () => unknown> = {
    done: () => byOwner({ type: 'session/toolCallComplete', result: RESULT }),
    unknown: () => byOwner({ type: 'session/toolCallConfirmed', approved: false, reason: 'denied' }),
    leave: () => owners.leave('desk'),
    return: () => owners.join('desk'),
    take: () => owners.join('phone'),
    drop: () => owners.leave('phone'),
    agree: () => byPerson(true),
    disagree: () => byPerson(false),
    pass: () => gate.answer({ kind: 'pass' }),
    object: () => gate.answer({ kind: 'deny', reason: 'no' }),
    time: () => clock.advance(CLIENT_GRACE_MS / 2),
    cancel: () => watch.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' }),
  };
  for (const { event, pause } of events) {
    await acts[event]();
    if (pause) await settle(2);
  }
  // Nobody is left to do anything: the call still comes to its end.
  for (const last of ['pass', 'leave', 'drop', 'time', 'time', 'time'] as const) {
    await acts[last]();
    await settle();
  }
  return { host, watch, uri, result: await outcome };
}

/** What became of the calls, as somebody saw it who only watched. */
function courseOf(watch: RawClient, uri: string) {
  const running = new Set<unknown>();
  const ends: unknown[] = [];
  const unasked: unknown[] = [];
  let mostAtOnce = 0;
  const steps = envelopesOf(watch, uri).filter(({ rejectionReason }) => rejectionReason === undefined);
  for (const { action } of steps) {
    const { type, toolCallId: id } = action;
    const isAnswer = type === 'session/toolCallConfirmed';
    const isUnasked = type === 'session/toolCallReady' && action.confirmed !== undefined;
    if (isUnasked) unasked.push(id);
    if (isUnasked || (isAnswer && action.approved)) running.add(id);
    // An owner that does not know the tool says so of a call that runs; the host ends that then.
    if (isAnswer && !action.approved && !running.has(id)) ends.push(id);
    if (type === 'session/toolCallComplete') {
      running.delete(id);
      ends.push(id);
    }
    mostAtOnce = Math.max(mostAtOnce, running.size);
  }
  return { ends, unasked, mostAtOnce };
}

describe("a call of a client's tool that everybody pulls at", () => {
  it('[UNI-045] [UNI-046] [CUS-133] ends once, runs at one place at a time, and twice only if a person says so', async () => {
    // What must come together for a call to run, and to run again, comes more often.
    const often = fc.constantFrom<Event>('pass', 'leave', 'take', 'agree', 'done');
    const event = fc.oneof({ weight: 2, arbitrary: often }, fc.constantFrom(...EVENTS));
    const step = fc.record({ event, pause: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (events) => {
        const { host, watch, uri, result } = await play(events);
        const { activeTurn, turns } = await stateOf(watch, uri);
        const calls = callsIn(activeTurn?.responseParts ?? turns.at(-1)?.responseParts);
        for (const { status } of calls) expect(['completed', 'cancelled']).toContain(status);
        const { ends, unasked, mostAtOnce } = courseOf(watch, uri);
        expect(new Set(ends).size).toBe(ends.length);
        expect(mostAtOnce).toBeLessThanOrEqual(1);
        expect(unasked.filter((id) => id !== 'c1')).toEqual([]);
        const verdict = events.find(({ event }) => event === 'pass' || event === 'object')?.event;
        if (verdict === 'object') expect(mostAtOnce).toBe(0);
        const good = calls.filter((call) => call.status === 'completed' && call.success);
        expect(good.length).toBeLessThanOrEqual(1);
        if (result !== 'turn over') expect(result.kind === 'completed' && result.success).toBe(good.length === 1);
        await host.stop();
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
