/** What a provider hears first is that it is bound, and then what there is to do. */

import type { ToolOutcome } from '@atrium/core/contracts/agent.js';
import type { ToProviderMessage } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { SlowLog } from '../../support/logs.js';
import { call, openProviderFixture, tool } from '../../support/provider-fixture.js';
import { openPuppetFixture } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const HELLO = { type: 'hello', name: 'ci', protocolVersion: 2 };
const GATED = { hooks: { onPreToolUse: [{ match: { tool: 'a' }, action: 'gate', gateId: 'g' }] } };

/** What came of these types, in its order. */
function order({ received }: TestProvider, ...types: string[]): string[] {
  return received.map(({ type }) => type).filter((type) => types.includes(type));
}

function calledIn(messages: readonly ToProviderMessage[]): Set<string> {
  return new Set(messages.flatMap((message) => (message.type === 'tool.call' ? message.tool : [])));
}

describe('while a hello is being stored', () => {
  it('[GW-073] what it brought is in force, and the provider is asked after it was acknowledged', async () => {
    const log = new SlowLog();
    const fixture = await openPuppetFixture({ log });
    const letThrough = log.hold('append');
    const provider = TestProvider.connect(fixture.host);
    provider.send({ ...HELLO, ...GATED, tools: [tool('a')] });
    await settle();
    const outcome = call(fixture, 'a');
    await settle();
    expect(order(provider, 'hello.ack', 'gate.check')).toEqual([]);
    letThrough();
    const { callId, gateId } = await provider.next('gate.check');
    provider.send({ type: 'gate.result', callId, gateId, decision: 'allow' });
    const { id } = await provider.next('tool.call');
    provider.send({ type: 'tool.result', id, data: 'done' });
    expect(await outcome).toMatchObject({ success: true, text: 'done' });
    expect(order(provider, 'hello.ack', 'gate.check', 'tool.call')).toEqual(['hello.ack', 'gate.check', 'tool.call']);
  });

  it('[GW-063] [GW-074] the same holds for one that binds anew', async () => {
    const log = new SlowLog();
    const fixture = await openProviderFixture({ tools: [tool('a')] }, { log });
    const { provider } = fixture;
    const letThrough = log.hold('append');
    provider.send({ ...HELLO, tools: [tool('b')] });
    await settle();
    void call(fixture, 'b');
    await settle();
    expect(provider.of('tool.call')).toEqual([]);
    letThrough();
    await provider.next('tool.call');
    const all = ['hello.ack', 'tool.call'];
    expect(order(provider, ...all)).toEqual(['hello.ack', ...all]);
  });

  it('[GW-210] [GW-063] nothing of the old binding is used any more, however many calls race', async () => {
    const fixture = await openProviderFixture({ tools: [tool('old')], concurrency: { max: 2 } });
    const { provider } = fixture;
    const old = Array.from({ length: 8 }, () => call(fixture, 'old'));
    await provider.next('tool.call');
    provider.send({ ...HELLO, tools: [tool('fresh')] });
    const fresh: Promise<ToolOutcome>[] = [];
    let answered = 0;
    const answerFresh = () => {
      for (const { id, tool: name } of provider.of('tool.call').slice(answered)) {
        answered += 1;
        if (name === 'fresh') provider.send({ type: 'tool.result', id, data: 'done' });
      }
    };
    for (let round = 0; round < 100; round++) {
      old.push(call(fixture, 'old'));
      fresh.push(call(fixture, 'fresh'));
      if (round % 3 === 0) await settle(1);
      answerFresh();
    }
    for (const outcome of await Promise.all(old)) expect(outcome).toMatchObject({ success: false });
    await settle();
    answerFresh();
    expect(await fresh.at(-1)).toMatchObject({ success: true });
    const rebound = provider.received.findLastIndex(({ type }) => type === 'hello.ack');
    expect(provider.of('hello.ack')).toHaveLength(2);
    expect(calledIn(provider.received.slice(0, rebound))).toEqual(new Set(['old']));
    expect(calledIn(provider.received.slice(rebound))).toEqual(new Set(['fresh']));
  });

  it('[GW-142] a provider that is lost then answers nothing: the call at its gate is denied', async () => {
    const log = new SlowLog();
    const fixture = await openPuppetFixture({ log });
    const letThrough = log.hold('append');
    const provider = TestProvider.connect(fixture.host);
    provider.send({ ...HELLO, ...GATED, tools: [tool('a')] });
    await settle();
    const outcome = call(fixture, 'a');
    await settle();
    provider.drop();
    letThrough();
    expect(await outcome).toMatchObject({ kind: 'denied', reason: expect.stringContaining('did not answer') });
    expect(order(provider, 'hello.ack', 'gate.check')).toEqual([]);
  });
});
