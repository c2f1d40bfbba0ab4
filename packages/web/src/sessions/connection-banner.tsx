/** Says when the connection is lost, what happens meanwhile, and when it is back. */
import { useEffect, useRef } from 'react';
import { useHost } from '../host/context.js';
import { useStore } from '../model/store.js';
import { tell } from '../ui/notices.js';

export function ConnectionBanner() {
  const { link, client } = useHost();
  const status = useStore(link.status);
  const wasLost = useRef(false);
  const isOpen = status.at === 'open';
  useEffect(() => {
    if (isOpen && wasLost.current) tell('Connected again. Nothing was lost.');
    wasLost.current = !isOpen;
  }, [isOpen]);
  if (isOpen) return null;
  if (status.at === 'closed') return <Closed why={status.error?.message ?? 'The connection was closed.'} />;
  return (
    <div className="banner" role="status">
      <span>
        <b>Connection lost.</b> Trying again by itself; what you do here is sent when it is back.
      </span>
      <button type="button" className="small" onClick={() => client.reconnectNow()}>
        Try now
      </button>
    </div>
  );
}

function Closed({ why }: { readonly why: string }) {
  return (
    <div className="banner" role="alert">
      <span>
        <b>Disconnected.</b> {why}
      </span>
      <button type="button" className="small" onClick={() => location.reload()}>
        Load the page again
      </button>
    </div>
  );
}
