/** The message that the person is about to go back to, and the undo of a rewind. */
import { UNDO_REWIND_METHOD } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { Store } from '../model/store.js';

/** The turn of that message; undefined while the dialog is closed. */
export const goingBackTo = new Store<string | undefined>(undefined);

/** Undoes the last rewind of a session, and returns the result in words. */
export async function undoRewind({ client, uri }: OpenSession): Promise<string> {
  const { message } = (await client.requestExtension(UNDO_REWIND_METHOD, { channel: uri })) as {
    readonly message: string;
  };
  return message;
}
