/** The message that somebody is about to go back to, and the way back from there. */
import { UNDO_REWIND_METHOD } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { Store } from '../model/store.js';

/** The turn of that message; undefined while nobody looks. */
export const goingBackTo = new Store<string | undefined>(undefined);

/** Takes the last rewind of a session back, and says what came of it. */
export async function undoRewind({ client, uri }: OpenSession): Promise<string> {
  const { message } = (await client.requestExtension(UNDO_REWIND_METHOD, { channel: uri })) as {
    readonly message: string;
  };
  return message;
}
