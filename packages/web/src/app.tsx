/** The whole page: connecting, asking for the token, or the shell. */
import { lazy, Suspense } from 'react';
import { HostProvider } from './host/context.js';
import type { HostLink } from './host/link.js';
import { useStore } from './model/store.js';
import { TokenForm } from './sessions/token-form.js';
import { Boundary } from './ui/boundary.js';
import { Mark } from './ui/icons.js';
import { NoticeList } from './ui/notices.js';

/** The shell loads while the page connects to the host. */
const shell = import('./shell.js').then(({ Shell }) => ({ default: Shell }));
const LazyShell = lazy(() => shell);

export function App({ link }: { readonly link: HostLink }) {
  const phase = useStore(link.phase);
  return (
    <Boundary what="The page">
      {phase.at === 'locked' && <TokenForm why={phase.why} onToken={(token) => link.unlock(token)} />}
      {(phase.at === 'connecting' || phase.at === 'unreachable') && <Waiting isLost={phase.at === 'unreachable'} />}
      {phase.at === 'ready' && (
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

/** Before the first connection: quiet for a moment, then with advice. */
function Waiting({ isLost }: { readonly isLost: boolean }) {
  return (
    <main className="connect-screen" aria-busy="true">
      <div className="connect-card">
        <Mark />
        <h1>{isLost ? 'The host does not answer' : 'Connecting'}</h1>
        {isLost && (
          <p role="status">
            Is it running? Start it with <code>npm start</code>. This page keeps trying by itself.
          </p>
        )}
      </div>
    </main>
  );
}
