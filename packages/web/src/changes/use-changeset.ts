/** The changeset on the screen: its state, and the choice of one. */
import type { Subscription } from '@atrium/client';
import type { ChangesetState } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { perFrame } from '../model/per-frame.js';
import { Store } from '../model/store.js';
import { openPanel } from '../ui/panel-state.js';

type OpenChangeset =
  | { readonly at: 'loading' }
  | { readonly at: 'failed'; readonly why: string }
  | { readonly at: 'open'; readonly state: ChangesetState };

export function useChangeset(uri: string): OpenChangeset {
  const { client } = useHost();
  const [opening, setOpening] = useState<OpenChangeset>({ at: 'loading' });
  useEffect(() => {
    let isOver = false;
    let opened: Subscription<'changeset'> | undefined;
    setOpening({ at: 'loading' });
    // Thousands of files may arrive one by one.
    const frame = perFrame(() => {
      if (opened) setOpening({ at: 'open', state: opened.state });
    });
    client.subscribe(uri, { kind: 'changeset' }).then(
      (subscription) => {
        if (isOver) return subscription.close();
        opened = subscription;
        setOpening({ at: 'open', state: subscription.state });
        subscription.onChange(() => frame.request());
        subscription.onGone(() => setOpening({ at: 'failed', why: 'These changes are not there any more.' }));
      },
      (error) => isOver || setOpening({ at: 'failed', why: problemText(error) }),
    );
    return () => {
      isOver = true;
      frame.cancel();
      opened?.close();
    };
  }, [client, uri]);
  return opening;
}

interface ShownChanges {
  readonly session: string;
  readonly uri: string;
}

/** Which set of changes is shown beside the conversation; without a choice, the first of the session. */
export const shownChanges = new Store<ShownChanges | undefined>(undefined);

export function showChanges(changes: ShownChanges): void {
  shownChanges.set(changes);
  openPanel('changes');
}
