/** The state of a set of changes while it is on the screen. */
import type { Subscription } from '@atrium/client';
import type { ChangesetState } from '@atrium/protocol';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { tell } from '../ui/notices.js';

export function useChangeset(uri: string): ChangesetState | undefined {
  const { client } = useHost();
  const [state, setState] = useState<ChangesetState>();
  useEffect(() => {
    let isOver = false;
    let opened: Subscription<'changeset'> | undefined;
    client.subscribe(uri, { kind: 'changeset' }).then(
      (subscription) => {
        if (isOver) return subscription.close();
        opened = subscription;
        setState(subscription.state);
        subscription.onChange(setState);
      },
      (error) => tell(problemText(error)),
    );
    return () => {
      isOver = true;
      opened?.close();
    };
  }, [client, uri]);
  return state;
}
