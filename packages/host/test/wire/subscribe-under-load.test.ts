import { expect, it } from 'vitest';
import { SlowLog } from '../support/logs.js';
import { comparable, Mirror } from '../support/mirror.js';
import { openFixture, openPuppetFixture } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

it('[REL-017] subscribing 1,000 times under load there is never a gap and never a double', async () => {
  const { host, client: desktop, uri, puppet, agent } = await openPuppetFixture({ joinText: false });
  const client = await host.client('reader');
  let streaming = true;
  const load = (async () => {
    for (let count = 0; streaming; count++) {
      puppet.turn.text(`${count} `);
      if (count % 7 === 0) desktop.dispatch(uri, { type: 'session/titleChanged', title: `Title ${count}` });
      if (count % 3 === 0) await settle(1);
    }
  })();
  for (let round = 0; round < 1_000; round++) {
    if (round % 2 === 0) client.send({ method: 'unsubscribe', params: { channel: uri } });
    await client.request('subscribe', { channel: uri });
    if (round % 10 === 0) await settle(1);
  }
  streaming = false;
  await load;
  puppet.finish();
  await client.action(uri, 'session/turnComplete');
  expect(agent.turns).toHaveLength(1);
  expect(client.types(uri).length).toBeGreaterThan(100);
  const mirror = new Mirror().takeAll(client.received);
  expect(mirror.state(uri)).toEqual(comparable(await desktop.state(uri)));
});

it('[REL-017] many who join at different moments all see the same', async () => {
  const { host, client: desktop, uri, puppet } = await openPuppetFixture();
  const clients = await Promise.all(Array.from({ length: 20 }, (_, index) => host.client(`reader-${index}`)));
  for (const [index, client] of clients.entries()) {
    client.send({ id: 500, method: 'subscribe', params: { channel: uri } });
    for (let step = 0; step <= index % 4; step++) puppet.turn.text(`${index}.${step} `);
    if (index % 5 === 0) await settle(1);
  }
  puppet.finish();
  const state = await desktop.action(uri, 'session/turnComplete').then(() => desktop.state(uri));
  for (const client of clients) {
    await client.until(({ id }) => id === 500);
    await settle();
    expect(new Mirror().takeAll(client.received).state(uri)).toEqual(comparable(state));
  }
});

it('[REL-017] whatever the moment, an action that is just being stored is in the snapshot or follows it', async () => {
  const log = new SlowLog();
  const { host, client: desktop, uri } = await openFixture({ log });
  const client = await host.client('reader');
  for (let moment = 0; moment < 40; moment++) {
    client.send({ method: 'unsubscribe', params: { channel: uri } });
    const letThrough = log.hold('append');
    desktop.dispatch(uri, { type: 'session/titleChanged', title: `Title ${moment}` });
    await settle(2);
    const subscribed = client.request('subscribe', { channel: uri });
    for (let step = 0; step < moment; step++) await Promise.resolve();
    letThrough();
    await subscribed;
    await settle(2);
    const mirror = new Mirror().takeAll(client.received);
    expect(mirror.state(uri)).toMatchObject({ summary: { title: `Title ${moment}` } });
  }
});
