/**
 * A local program asks for access: its user types this code into it. The request belongs to the host, not to a session.
 */
import type { Client } from '@atrium/client';
import { visibleText } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { tell } from '../ui/notices.js';
import { VisibleText } from '../ui/visible-text.js';

/** The host counts a page as absent if it has not asked for ten seconds. */
const LOOK_EVERY_MS = 2_000;

interface Code {
  readonly session: string;
  readonly title: string;
  readonly code: string;
}

interface Request {
  readonly id: string;
  readonly name?: string;
  readonly codes: readonly Code[];
}

export function Pairings() {
  const { client } = useHost();
  const [requests, setRequests] = useState<readonly Request[]>([]);
  useEffect(() => {
    if (!isAtrium(client)) return;
    const look = () => {
      if (document.visibilityState === 'hidden') return;
      client.requestExtension('atrium/pairings').then(
        (found) => setRequests((found as { items: readonly Request[] }).items),
        // Without the host there are no requests.
        () => setRequests([]),
      );
    };
    look();
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [client]);
  if (requests.length === 0) return null;
  return (
    <div className="pairings">
      {requests.map((request) => (
        <Pairing key={request.id} request={request} client={client} />
      ))}
    </div>
  );
}

function Pairing({ request: { id, name, codes }, client }: { readonly request: Request; readonly client: Client }) {
  const [chosen, setChosen] = useState(codes[0]?.session);
  const code = codes.find(({ session }) => session === chosen) ?? codes[0];
  const refuse = () =>
    void client
      .requestExtension('atrium/declinePairing', { id })
      .catch((error) => tell(`Not refused: ${problemText(error)}`));
  return (
    <section className="ask" role="alert" aria-label="Pairing">
      <p>
        A local program{name !== undefined && <VisibleText text={`, \u201c${name}\u201d,`} />} asks for access to a
        session. Type this code there:
      </p>
      {code && (
        <p className="pairing-code" role="img" aria-label={`Code ${[...code.code.replace(' ', '')].join(' ')}`}>
          {code.code}
        </p>
      )}
      {codes.length === 1 && (
        <p>
          For the session <VisibleText text={code?.title || 'Untitled'} />
        </p>
      )}
      {codes.length > 1 && (
        <label>
          For the session{' '}
          <select value={code?.session} onChange={(event) => setChosen(event.target.value)}>
            {codes.map(({ session, title }) => (
              <option key={session} value={session}>
                {visibleText(title, 'line') || 'Untitled'}
              </option>
            ))}
          </select>
        </label>
      )}
      <p className="hint">Only if you started it. The code is good for one try and a short while, then it goes away.</p>
      <div className="buttons">
        <button type="button" onClick={refuse}>
          Refuse
        </button>
      </div>
    </section>
  );
}
