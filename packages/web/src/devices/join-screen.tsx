/**
 * The screen of a new device before it comes in: names the host, and without encryption shows both fingerprints to
 * compare.
 */
import { type DeviceLink, HOST_KEY_PATH, shownFingerprint } from '@atrium/protocol/ahp-1';
import { type FormEvent, useEffect, useState } from 'react';
import { redeemCode } from '../host/token.js';
import { Mark } from '../ui/icons.js';
import './devices.css';

type Invited = Pick<DeviceLink, 'code' | 'fingerprint'>;

export function JoinScreen({ invited: { code, fingerprint } }: { readonly invited: Invited }) {
  const told = useHostKey();
  const [name, setName] = useState(guessedName);
  const [problem, setProblem] = useState('');
  const [isAsking, setAsking] = useState(false);
  const isSame = told === fingerprint;
  const join = async (event: FormEvent) => {
    event.preventDefault();
    setAsking(true);
    const why = await redeemCode(code, name);
    if (why === undefined) return location.replace('/');
    setProblem(why);
    setAsking(false);
  };
  return (
    <main className="connect-screen">
      <form onSubmit={(event) => void join(event)} aria-labelledby="join-title">
        <Mark />
        <h1 id="join-title">Let this device in</h1>
        {told === undefined && <p role="status">Asking the host for its key…</p>}
        {told !== undefined && !isSame && (
          <p role="alert">
            This is not the host that the code is from. Nothing was sent. Ask for a new code, and check the address.
          </p>
        )}
        {told !== undefined && (!isSame || !isEncrypted()) && (
          <dl className="fingerprints">
            <dt>In the code</dt>
            <dd className="mono">{shownFingerprint(fingerprint)}</dd>
            <dt>Of this host</dt>
            <dd className="mono">{shownFingerprint(told) || 'none'}</dd>
          </dl>
        )}
        {isSame && !isEncrypted() && (
          <p>
            This connection is not encrypted. Go on only in a network that you trust, and if the screen with the code
            shows the same key.
          </p>
        )}
        {isSame && (
          <>
            <label htmlFor="device-name">Name of this device</label>
            <input id="device-name" value={name} maxLength={80} onChange={({ target }) => setName(target.value)} />
            <button type="submit" className="primary" disabled={isAsking}>
              {isEncrypted() ? 'Come in' : 'They are the same: come in'}
            </button>
          </>
        )}
        {problem !== '' && <p role="alert">{problem}</p>}
      </form>
    </main>
  );
}

/** Loopback counts as encrypted, because nobody can read along. */
function isEncrypted(): boolean {
  return location.protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
}

/** The fingerprint that the host sends; empty if it sends none. */
function useHostKey(): string | undefined {
  const [told, setTold] = useState<string>();
  useEffect(() => {
    fetch(HOST_KEY_PATH, { cache: 'no-store' })
      .then((answer) => answer.json())
      .then(
        ({ fingerprint }: { readonly fingerprint?: unknown }) =>
          setTold(typeof fingerprint === 'string' ? fingerprint : ''),
        () => setTold(''),
      );
  }, []);
  return told;
}

function guessedName(): string {
  const { userAgent } = navigator;
  // Each browser also names older ones: the first match in these lists counts.
  const found = (names: readonly string[]) => names.find((name) => userAgent.includes(name));
  const device = found(['iPhone', 'iPad', 'Android', 'Macintosh', 'Windows', 'CrOS', 'Linux']) ?? 'device';
  const browser = found(['Edg', 'Firefox', 'Chrome', 'Safari']) ?? 'Browser';
  return `${browser === 'Edg' ? 'Edge' : browser} on ${device === 'Macintosh' ? 'Mac' : device}`;
}
