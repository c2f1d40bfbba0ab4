import { StandingRequests } from '@atrium/core/sessions/questions.js';
import type { SessionAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { componentsOf } from '../support/host-components.js';
import { envelopesOf, openPuppetRoom, openRoom, type Room, startHost, stateOf } from '../support/session-room.js';
import { settle } from '../support/test-host.js';

/** Puts a question to the people in a session; the returned function takes it back. */
async function ask(room: Room): Promise<() => void> {
  const session = componentsOf(room.host.host).sessions.inMemory.get(room.uri);
  const takeBack = session?.standing.ask({ id: 'q', message: 'May it?', questions: [] }, () => {});
  await settle();
  return () => takeBack?.();
}

describe('a standing question', () => {
  it('[UNI-064] is put again after a turn, and only then', async () => {
    const room = await openPuppetRoom();
    await ask(room);
    for (let count = 0; count < 20; count++) room.puppet.turn.text('word ');
    await settle();
    const asked = () =>
      envelopesOf(room.desk, room.uri).filter(({ action }) => action.type === 'session/inputRequested');
    expect(asked()).toHaveLength(1);
    room.puppet.finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    await settle();
    expect(asked()).toHaveLength(2);
    expect((await stateOf(room.desk, room.uri)).inputRequests).toHaveLength(1);
  });

  it('[UNI-064] is taken back when its asker has gone', async () => {
    const room = await openRoom();
    const takeBack = await ask(room);
    takeBack();
    await settle();
    expect((await stateOf(room.desk, room.uri)).inputRequests ?? []).toEqual([]);
  });

  it('is withdrawn by the next host when the one that asked is no more', async () => {
    const room = await openRoom();
    await ask(room);
    expect((await stateOf(room.desk, room.uri)).inputRequests).toHaveLength(1);
    const second = await startHost({ log: room.host.log });
    const desk = await second.client('phone');
    await desk.request('subscribe', { channel: room.uri });
    await settle();
    expect((await stateOf(desk, room.uri)).inputRequests ?? []).toEqual([]);
  });

  it('is changed when it is asked again under its id, and an older hand cannot take it back', () => {
    const written: SessionAction[] = [];
    const standing = new StandingRequests({
      write: (action) => void written.push(action),
      state: () => ({ activeTurn: undefined }) as never,
      isNoteNeeded: () => false,
    });
    const first = standing.ask({ id: 'q', message: 'one' }, () => {});
    const second = standing.ask({ id: 'q', message: 'two' }, () => {});
    first();
    expect(written.map(({ type }) => type)).toEqual(['session/inputRequested', 'session/inputRequested']);
    second();
    expect(written.at(-1)).toMatchObject({ type: 'session/inputCompleted', requestId: 'q', response: 'cancel' });
  });
});
