/** `delivery.maxLatencyMs`: how long text may be held back for a client. */
import { TEXT_HELD_MAX_MS } from '@atrium/core/wire/limits.js';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { nativeClient, userMessage } from '../../support/native-client.js';
import { openFixture } from '../../support/session-fixture.js';
import { type RawClient, settle } from '../../support/test-host.js';

async function streaming() {
  const { host, clock, agent } = await openFixture();
  const client = await nativeClient(host, 'desk');
  const uri = 'ahp-session:/held';
  await client.request('createSession', { channel: uri, provider: 'puppet' });
  const { defaultChat: chat } = await client.state<{ defaultChat: string }>(uri);
  const watch = async (clientId: string, delivery?: object): Promise<RawClient> => {
    const watcher = await nativeClient(host, clientId);
    await watcher.request('subscribe', { channel: chat, ...(delivery && { delivery }) });
    return watcher;
  };
  const deltas = (watcher: RawClient) =>
    watcher
      .envelopes(chat)
      .flatMap(({ action }) =>
        action.type === 'chat/delta' ? [(action as unknown as { content: string }).content] : [],
      );
  client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', message: userMessage('go') } as { type: string });
  const turn = await agent.turn(0);
  const say = async (...words: string[]) => {
    for (const word of words) {
      turn.turn.text(word);
      await settle();
    }
  };
  return { clock, chat, watch, deltas, say, turn };
}

describe('text', () => {
  it('[UP-030] is merged for a client that lets it wait, at once for others, and the same in the end', async () => {
    const { clock, chat, watch, deltas, say } = await streaming();
    const patient = await watch('patient', { maxLatencyMs: 200 });
    const eager = await watch('eager', { maxLatencyMs: 0 });
    const plain = await watch('plain');
    // The first piece goes out with its part.
    await say('a');
    expect(deltas(patient)).toEqual(['a']);
    await say('b', 'c');
    expect(deltas(patient)).toEqual(['a']);
    const few = deltas(eager);
    expect(few.join('')).toBe(deltas(plain).join(''));
    await clock.advance(200);
    expect(few).toEqual(['a', 'b', 'c']);
    expect(deltas(patient)).toEqual(['a', 'bc']);
    await say('d');
    const { activeTurn } = await patient.state<ChatState>(chat);
    expect(JSON.stringify(activeTurn)).toContain('abcd');
    const numbers = patient.envelopes(chat).map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it('[UP-030] waits no longer than a second, whatever a client wishes', async () => {
    const { clock, watch, deltas, say } = await streaming();
    const patient = await watch('patient', { maxLatencyMs: 1e12 });
    await say('a', 'b');
    await clock.advance(TEXT_HELD_MAX_MS - 1);
    expect(deltas(patient)).toEqual(['a']);
    await clock.advance(1);
    expect(deltas(patient)).toEqual(['a', 'b']);
  });
});
