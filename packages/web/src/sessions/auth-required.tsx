/** Says that an agent or a server wants a token, now or again, and takes it. */
import type { ProtectedResourceMetadata, RootState } from '@atrium/protocol';
import { useEffect, useState } from 'react';
import { resourceName } from '../host/auth.js';
import { useHost } from '../host/context.js';
import { useStore } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';
import { SignIn } from './sign-in.js';

interface Wanted {
  readonly resource: string;
  readonly isExpired: boolean;
}

export function AuthRequired() {
  const { client, link } = useHost();
  const root = useStore(link.root);
  const [wanted, setWanted] = useState<readonly Wanted[]>([]);
  const [asked, setAsked] = useState<string>();
  const drop = (gone: string) => setWanted((all) => all.filter(({ resource }) => resource !== gone));
  useEffect(
    () =>
      client.onNotification('auth/required', ({ resource, reason }) =>
        setWanted((all) => [
          ...all.filter((other) => other.resource !== resource),
          { resource, isExpired: reason === 'expired' },
        ]),
      ),
    [client],
  );
  const done = (resource: string) => {
    drop(resource);
    setAsked(undefined);
    tell('Signed in. Say it again, and the agent goes on.');
  };
  return (
    <>
      {wanted.map(({ resource, isExpired }) => (
        <div key={resource} className="banner" role="status">
          <span>
            <b>{resourceName(metadataOf(root, resource))}</b>{' '}
            {isExpired ? 'does not take its token any more.' : 'needs you to sign in.'}
          </span>
          <button type="button" className="small primary" onClick={() => setAsked(resource)}>
            Sign in
          </button>
          <button type="button" className="quiet small" onClick={() => drop(resource)}>
            Not now
          </button>
        </div>
      ))}
      {asked !== undefined && (
        <Dialog title="Sign in" onClose={() => setAsked(undefined)}>
          <SignIn needed={[metadataOf(root, asked)]} onDone={() => done(asked)} />
        </Dialog>
      )}
    </>
  );
}

/** What the agents say about it; servers that ask on their own are known by their address alone. */
function metadataOf({ agents }: RootState, resource: string): ProtectedResourceMetadata {
  const all = agents.flatMap(({ protectedResources = [] }) => protectedResources);
  return all.find((it) => it.resource === resource) ?? { resource };
}
