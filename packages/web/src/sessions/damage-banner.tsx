/** Says that the host found its own files damaged, what it saved and what is lost, until somebody has read it. */
import { useState } from 'react';
import { useHost } from '../host/context.js';

/** The member of the answer to `initialize` in which a host tells of damage. */
const DAMAGE_MEMBER = 'atrium/damage';
const READ_KEY = 'atrium-damage-read';

interface DamageReport {
  readonly time: number;
  readonly message: string;
}

export function DamageBanner() {
  const { client } = useHost();
  const [readUpTo, setReadUpTo] = useState(() => Number(localStorage.getItem(READ_KEY) ?? 0));
  const told: Readonly<Record<string, unknown>> = client.host;
  const reports = ((told[DAMAGE_MEMBER] ?? []) as readonly DamageReport[]).filter(({ time }) => time > readUpTo);
  const last = reports.at(-1);
  if (!last) return null;
  const close = () => {
    localStorage.setItem(READ_KEY, String(last.time));
    setReadUpTo(last.time);
  };
  return (
    <div className="banner" role="alert">
      <span>
        <b>Stored data was damaged.</b> {reports.map(({ message }) => message).join(' · ')}
      </span>
      <button type="button" className="small" onClick={close}>
        I have read it
      </button>
    </div>
  );
}
