/** `/revert`, `/discard`, `/stage`, `/commit` and `/undo`: what the host can do with changes, after a yes where it asks. */
import { channelOf } from '../../changes/catalogue.js';
import { readChangeset } from '../../changes/changeset.js';
import { commit as commitAll } from '../../changes/commit.js';
import { invoke, type Offer, offerOf } from '../../changes/operations.js';
import { isView, type ViewName } from '../../changes/views.js';
import type { Room, Task } from './room.js';

interface Planned {
  readonly channel: string;
  readonly offer: Offer;
}

/** What the agent changed in its last turn, in the whole session, or in one file. */
export function revert(word: string): Task {
  return async (room) => {
    const view = isView(word) ? word : room.recall.view === 'session' && word !== '' ? 'session' : 'turn';
    if (view === 'uncommitted') return room.note('What is not committed is thrown away with /discard.');
    const file = isView(word) || word === '' ? undefined : word;
    const { channel, offer } = await planned(room, view, 'revert', file);
    if (!(await done(room, channel, offer))) return;
    room.recall.undo = { channel, operationId: 'reapply' };
  };
}

export function discard(file: string): Task {
  return async (room) => {
    const { channel, offer } = await planned(room, 'uncommitted', 'discard', file || undefined);
    if (!(await done(room, channel, offer))) return;
    room.recall.undo = { channel, operationId: 'restore' };
  };
}

export function stage(operationId: 'stage' | 'unstage', file: string): Task {
  return async (room) => {
    const { channel, offer } = await planned(room, 'uncommitted', operationId, file || undefined);
    await done(room, channel, offer);
  };
}

/** The message is asked for by the session, like any other question. */
export const commit: Task = async (room) => {
  const { channel, offer } = await planned(room, 'uncommitted', 'commit', undefined);
  const { client, session } = room;
  room.note((await commitAll({ client, session, channel }, offer)) ?? 'Nothing was committed.');
};

export const undo: Task = async (room) => {
  const { undo: last } = room.recall;
  if (!last) return room.note('Nothing was taken back in this chat.');
  const offer = offerOf(await readChangeset(room.client, last.channel), last, undefined);
  if (await done(room, last.channel, offer)) room.recall.undo = undefined;
};

async function planned(room: Room, view: ViewName, operationId: string, file: string | undefined): Promise<Planned> {
  const channel = await channelOf(room.session, view);
  const changeset = await readChangeset(room.client, channel);
  return { channel, offer: offerOf(changeset, { operationId, file }, room.session.state.summary.workingDirectory) };
}

/** False when the person said no. */
async function done(room: Room, channel: string, offer: Offer): Promise<boolean> {
  if (offer.question !== undefined && !(await room.ask(offer.question))) {
    room.note('Nothing was changed.');
    return false;
  }
  const message = await invoke(room.client, channel, offer);
  const isTakenBack = ['revert', 'discard'].includes(offer.operation.id);
  room.note(isTakenBack ? `${message} /undo puts it back.` : message);
  return true;
}
