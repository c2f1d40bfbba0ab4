import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { answerTo, openFixture, refusalOf } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

const title = (text: string) => ({ type: 'session/titleChanged', title: text }) as const;

function numbersOf(client: { received: readonly { params?: Record<string, unknown> }[] }): number[] {
  return client.received.flatMap(({ params }) => (typeof params?.serverSeq === 'number' ? params.serverSeq : []));
}

describe('the sequence', () => {
  it('[AHP-105] [UP-240] is one for all channels, and leaves nothing out', async () => {
    const { client: desktop, uri, host } = await openFixture();
    const other = await desktop.session();
    const channels = [uri, other].flatMap((session) => [session, defaultChatUri(session)]);
    const native = await host.client('native', {
      protocolVersions: ['1.0.0'],
      initialSubscriptions: [ROOT, ...channels],
    });
    const { head } = host.log;
    await Promise.all([desktop.turn(uri, 'hello'), desktop.turn(other, 'hello')]);
    await refusalOf(desktop, uri, { type: 'session/turnCancelled' });
    await desktop.request('disposeSession', { channel: other });
    await settle();
    const stored = await host.log.read({ after: head });
    // A rejection has a number too, and goes to its sender only.
    const shown = stored.filter(({ channel }) => channel !== '');
    expect(stored.length - shown.length).toBe(1);
    expect(numbersOf(native)).toEqual(shown.map(({ seq }) => seq));
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => head + 1 + index));
    const numbers = numbersOf(desktop);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(new Set(desktop.envelopes(ROOT).map(({ action }) => action.type))).toEqual(
      new Set(['root/activeSessionsChanged']),
    );
  });

  it('[AHP-105] a client that watches one channel sees gaps, always growing', async () => {
    const { client: desktop, uri, host } = await openFixture();
    const phone = await host.client('phone', { initialSubscriptions: [uri] });
    const other = await desktop.session();
    for (const text of ['a', 'b', 'c']) {
      desktop.dispatch(other, title(text));
      desktop.dispatch(uri, title(text));
    }
    await phone.action(uri, (action) => (action as { title?: string }).title === 'c');
    const numbers = numbersOf(phone);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(numbers).toHaveLength(3);
    expect(Math.max(...numbers) - Math.min(...numbers)).toBe(4);
  });

  it('[AHP-106] is the same for everyone, whoever was first', async () => {
    const { client: desktop, uri, join } = await openFixture();
    const [phone, carol] = [await join('phone'), await join('carol')];
    for (let round = 0; round < 20; round++) {
      for (const client of [desktop, phone, carol]) client.dispatch(uri, title(`${client.clientId} ${round}`));
      if (round % 3 === 0) await settle(1);
    }
    await settle();
    const seen = [desktop, phone, carol].map((client) =>
      client.envelopes(uri).filter(({ action }) => action.type === 'session/titleChanged'),
    );
    expect(seen[0]).toHaveLength(60);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('[AHP-106] a rejection stands in its place among the actions around it', async () => {
    const { client: desktop, uri } = await openFixture();
    const first = desktop.dispatch(uri, title('One'));
    const refused = desktop.dispatch(uri, { type: 'session/turnCancelled', turnId: 'none' });
    const last = desktop.dispatch(uri, title('Two'));
    await answerTo(desktop, uri, last);
    await settle();
    const own = desktop.envelopes(uri).filter(({ origin }) => origin);
    expect(own.map(({ origin }) => origin)).toEqual(
      [first, refused, last].map((clientSeq) => ({ clientId: 'desk', clientSeq })),
    );
    expect(own.map(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([false, true, false]);
    const numbers = own.map(({ serverSeq }) => serverSeq);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('[AHP-106] effects come after the action that causes them', async () => {
    const { client: desktop, uri } = await openFixture();
    await desktop.turn(uri, 'hello');
    const types = desktop.types(uri);
    expect(types.slice(types.indexOf('session/turnStarted'))).toEqual([
      'session/turnStarted',
      'session/responsePart',
      'session/delta',
      'session/turnComplete',
    ]);
  });
});

describe('an echo', () => {
  it('[AHP-108] reaches the one who asked, like everyone else, with its origin', async () => {
    const { client: desktop, uri, join } = await openFixture();
    const phone = await join('phone');
    const clientSeq = desktop.dispatch(uri, title('Mine'));
    const origin = { clientId: 'desk', clientSeq };
    for (const client of [desktop, phone]) {
      expect(await client.action(uri, 'session/titleChanged')).toMatchObject({ action: title('Mine'), origin });
    }
    await settle();
    expect(desktop.types(uri).filter((type) => type === 'session/titleChanged')).toHaveLength(1);
  });

  it('[AHP-109] reaches the one who asked without watching, and nothing else of that channel does', async () => {
    const { client: desktop, uri, host } = await openFixture();
    const phone = await host.client('phone');
    const clientSeq = phone.dispatch(uri, {
      type: 'session/turnStarted',
      turnId: 't1',
      userMessage: { text: 'hello' },
    });
    expect(await answerTo(phone, uri, clientSeq)).toMatchObject({ action: { turnId: 't1' } });
    await desktop.action(uri, 'session/turnComplete');
    await settle();
    expect(phone.types(uri)).toEqual(['session/turnStarted']);
  });

  it('[AHP-111] nobody hears of a channel that only looks alike', async () => {
    const { client: desktop, host } = await openFixture();
    const uri = await desktop.session('ahp-session:/a/b');
    const watching = await Promise.all(
      ['ahp-session:/a', 'ahp-session:/a/b/c', 'ahp-session:/A/B'].map(async (channel) => {
        await desktop.session(channel);
        return host.client(`at ${channel}`, { initialSubscriptions: [channel] });
      }),
    );
    desktop.dispatch(uri, title('Here'));
    await desktop.action(uri, 'session/titleChanged');
    await settle();
    for (const client of watching) expect(numbersOf(client)).toEqual([]);
  });
});
