/** Which client lends its tools to the session, and how this page is connected. */
import type { SessionState } from '@atrium/protocol';
import { useHost } from '../host/context.js';
import { plural } from '../model/format.js';
import { useStore } from '../model/store.js';
import { Section } from './section.js';

export function People({ state }: { readonly state: SessionState }) {
  const { link, client } = useHost();
  const status = useStore(link.status);
  const { activeClient } = state;
  const isMe = activeClient?.clientId === client.clientId;
  return (
    <Section title="Connection">
      <dl className="facts">
        <dt>This page</dt>
        <dd>{status.at === 'open' ? `connected, protocol ${status.protocolVersion}` : status.at}</dd>
        <dt>Lends tools</dt>
        <dd>
          {activeClient
            ? `${isMe ? 'this page' : (activeClient.displayName ?? activeClient.clientId)}, ${plural(activeClient.tools.length, 'tool')}`
            : 'no client'}
        </dd>
      </dl>
    </Section>
  );
}
