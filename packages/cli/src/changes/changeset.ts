/** A set of changes as it is now, looked at once. */
import type { Client, Subscription } from '@atrium/client';
import type { ChangesetState } from '@atrium/protocol';

/** A look into a large repository takes a while; after this, what is known by then is shown. */
const READY_MAX_MS = 30_000;

export async function readChangeset(client: Client, uri: string): Promise<ChangesetState> {
  const changeset = await client.subscribe(uri, { kind: 'changeset' });
  try {
    await settled(changeset, ({ status }) => status !== 'computing', READY_MAX_MS);
    const { state } = changeset;
    // They come in the order in which they were found.
    return { ...state, files: state.files.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  } finally {
    changeset.close();
  }
}

/** Waits until the changes are as asked. False when that took too long, or they are gone. */
export function settled(
  changeset: Subscription<'changeset'>,
  isReady: (state: ChangesetState) => boolean,
  maxMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (value: boolean) => {
      clearTimeout(timer);
      for (const off of offs) off();
      resolve(value);
    };
    const timer = setTimeout(() => end(false), maxMs);
    const offs = [changeset.onChange((state) => isReady(state) && end(true)), changeset.onGone(() => end(false))];
    if (isReady(changeset.state)) end(true);
  });
}
