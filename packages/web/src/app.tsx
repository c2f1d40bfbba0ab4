/** The whole page: connecting, asking for the token, or the shell. */

import type { DeviceLink } from '@atrium/protocol/ahp-1';
import { lazy, Suspense } from 'react';
import { HostProvider } from './host/context.js';
import type { HostLink } from './host/link.js';
import { type Readable, useStore } from './model/store.js';
import { InsecureNotice } from './sessions/insecure-notice.js';
import { TokenForm } from './sessions/token-form.js';
import { Boundary } from './ui/boundary.js';
import { Mark } from './ui/icons.js';
import { NoticeList } from './ui/notices.js';

/** The shell loads while the page connects to the host. */
const shell = import('./shell.js').then(({ Shell }) => ({ default: Shell }));
const LazyShell = lazy(() => shell);
const JoinScreen = lazy(() => import('./devices/join-screen.js').then((part) => ({ default: part.JoinScreen })));
const SharedPage = lazy(async () => ({ default: (await import('./shares/shared-page.js')).SharedPage }));
const ShareOver = lazy(async () => ({ default: (await import('./shares/shared-page.js')).ShareOver }));

interface Props {
  readonly link: HostLink;
  /** The code in the address, which lets this browser in. */
  readonly invited?: Pick<DeviceLink, 'code' | 'fingerprint'> | undefined;
}

export function App({ link, invited }: Props) {
  const phase = useStore(link.phase);
  return (
    <Boundary what="The page">
      <InsecureNotice />
      {invited && (
        <Suspense fallback={<Waiting isLost={false} />}>
          <JoinScreen invited={invited} />
        </Suspense>
      )}
      {phase.at === 'locked' && !link.isShare && <TokenForm why={phase.why} onToken={(token) => link.unlock(token)} />}
      {!invited && (phase.at === 'connecting' || phase.at === 'unreachable') && (
        <Waiting isLost={phase.at === 'unreachable'} />
      )}
      {link.isShare && (phase.at === 'ready' || phase.at === 'locked') && (
        <Suspense fallback={<Waiting isLost={false} />}>
          {phase.at === 'ready' ? <SharedPage link={link} /> : <ShareOver />}
        </Suspense>
      )}
      {phase.at === 'ready' && !link.isShare && (
        <HostProvider value={{ link, client: phase.client }}>
          <Suspense fallback={<Waiting isLost={false} />}>
            <LazyShell />
          </Suspense>
        </HostProvider>
      )}
      <NoticeList />
    </Boundary>
  );
}

const offline: Readable<boolean> = {
  get: () => !navigator.onLine,
  subscribe(listener) {
    addEventListener('online', listener);
    addEventListener('offline', listener);
    return () => {
      removeEventListener('online', listener);
      removeEventListener('offline', listener);
    };
  },
};

/** Before the first connection: quiet for a moment, then with advice. */
function Waiting({ isLost }: { readonly isLost: boolean }) {
  const isOffline = useStore(offline);
  return (
    <main className="connect-screen" aria-busy="true">
      <div className="connect-card">
        <Mark />
        <h1>{!isLost ? 'Connecting' : isOffline ? 'You are offline' : 'The host does not answer'}</h1>
        {isLost && (
          <p role="status">
            {isOffline ? (
              'Nothing is shown that may have changed meanwhile. This page connects by itself when the network is back.'
            ) : (
              <>
                Is it running? Start it with <code>npm start</code>. This page keeps trying by itself.
              </>
            )}
          </p>
        )}
      </div>
    </main>
  );
}
