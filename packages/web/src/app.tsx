/** The whole page: the door, or the rooms behind it. */
import { HostProvider } from './host/context.js';
import type { HostLink } from './host/link.js';
import { useStore } from './model/store.js';
import { TokenForm } from './sessions/token-form.js';
import { Waiting } from './sessions/waiting.js';
import { Shell } from './shell.js';
import { NoticeList } from './ui/notice-list.js';

export function App({ link }: { readonly link: HostLink }) {
  const phase = useStore(link.phase);
  return (
    <>
      {phase.at === 'locked' && <TokenForm hadToken={phase.hadToken} onToken={(token) => link.unlock(token)} />}
      {(phase.at === 'connecting' || phase.at === 'unreachable') && <Waiting isLost={phase.at === 'unreachable'} />}
      {phase.at === 'ready' && (
        <HostProvider value={{ link, client: phase.client }}>
          <Shell />
        </HostProvider>
      )}
      <NoticeList />
    </>
  );
}
