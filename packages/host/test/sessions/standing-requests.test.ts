import { StandingRequests } from '@atrium/core/sessions/questions.js';
import { defaultChatUri, type SessionAction } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { componentsOf } from '../support/host-components.js';
import {
  envelopesOf,
  type Fixture,
  openFixture,
  openPuppetFixture,
  startHost,
  stateOf,
} from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';

/** Puts a question to the people in a session; the returned function takes it back. */
async function ask(fixture: Fixture): Promise<() => void> {
  const session = componentsOf(fixture.host.host).sessions.inMemory.get(fixture.uri);
  const takeBack = session?.standing.ask({ id: 'q', message: 'May it?', questions: [] }, () => {});
  await settle();
  return () => takeBack?.();
}

describe('a standing question', () => {
  it('[UNI-064] is put again after a turn, and only then', async () => {
    const fixture = await openPuppetFixture();
    await ask(fixture);
    for (let count = 0; count < 20; count++) fixture.puppet.turn.text('word ');
    await settle();
    const asked = () =>
      envelopesOf(fixture.client, fixture.uri).filter(({ action }) => action.type === 'session/inputRequested');
    expect(asked()).toHaveLength(1);
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    await settle();
    expect(asked()).toHaveLength(2);
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests).toHaveLength(1);
  });

  it('[UNI-064] is taken back when its asker has gone', async () => {
    const fixture = await openFixture();
    const takeBack = await ask(fixture);
    takeBack();
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });

  it('is withdrawn by the next host when the one that asked is no more', async () => {
    const fixture = await openFixture();
    await ask(fixture);
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests).toHaveLength(1);
    const second = await startHost({ log: fixture.host.log });
    const client = await second.client('phone');
    await client.request('subscribe', { channel: fixture.uri });
    await settle();
    expect((await stateOf(client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });

  it('is changed when it is asked again under its id, and an older hand cannot take it back', () => {
    const written: SessionAction[] = [];
    const standing = new StandingRequests({
      chat: { uri: defaultChatUri('x:1'), state: { activeTurn: undefined } } as never,
      write: (action) => void written.push(action),
      state: () => ({ inputNeeded: [] }) as never,
      isNoteNeeded: () => false,
    });
    const first = standing.ask({ id: 'q', message: 'one' }, () => {});
    const second = standing.ask({ id: 'q', message: 'two' }, () => {});
    first();
    expect(written.map(({ type }) => type)).toEqual(['session/inputNeededSet', 'session/inputNeededSet']);
    second();
    expect(written.at(-1)).toMatchObject({ type: 'session/inputNeededRemoved', id: 'standing:q' });
  });
});
