/** Banners about the host as a whole: a lost connection, damaged files. */
import type { SessionSummary } from '@atrium/protocol/ahp-1';
import { useEffect, useRef, useState } from 'react';
import { isOutdated } from '../host/app-version.js';
import { useHost } from '../host/context.js';
import { activityOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { tell } from '../ui/notices.js';

export function ConnectionBanner() {
  const { link, client } = useHost();
  const status = useStore(link.status);
  const isOpen = status.at === 'open';
  useReturnNotes(isOpen, useStore(link.sessions) ?? []);
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

/** The host was upgraded while this page was open. */
export function UpdateBanner() {
  if (!useStore(isOutdated)) return null;
  return (
    <div className="banner" role="status">
      <span>
        <b>The host has a newer page.</b> What you are writing stays.
      </span>
      <button type="button" className="small" onClick={() => location.reload()}>
        Load it
      </button>
    </div>
  );
}

/** Says that the connection is back, and which turns the restart of the host has cut off. */
function useReturnNotes(isOpen: boolean, sessions: readonly SessionSummary[]): void {
  const wasLost = useRef(false);
  /** Sessions with a running turn when the connection was lost. */
  const cutOff = useRef<readonly string[]>([]);
  useEffect(() => {
    if (isOpen && wasLost.current) tell('Connected again.');
    if (!isOpen && !wasLost.current) cutOff.current = sessions.filter(isAtWork).map(({ resource }) => resource);
    wasLost.current = !isOpen;
    if (!isOpen) return;
    // The list may arrive a moment after the connection.
    const failed = sessions.filter((session) => cutOff.current.includes(session.resource) && hasFailed(session));
    cutOff.current = cutOff.current.filter((uri) => !failed.some(({ resource }) => resource === uri));
    if (failed.length > 0) tell(failedNote(failed));
  }, [isOpen, sessions]);
}

function isAtWork(session: SessionSummary): boolean {
  const activity = activityOf(session);
  return activity === 'working' || activity === 'needs-you';
}

function hasFailed(session: SessionSummary): boolean {
  return activityOf(session) === 'error';
}

function failedNote(failed: readonly SessionSummary[]): string {
  const titles = failed.map(({ title }) => `“${title}”`).join(', ');
  return `A turn was cut off meanwhile in ${titles}: look there at what was interrupted before you repeat it.`;
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

/** The member of the answer to `initialize` that reports damage. */
const DAMAGE_MEMBER = 'atrium/damage';
const READ_KEY = 'atrium-damage-read';

interface DamageReport {
  readonly time: number;
  readonly message: string;
}

/** Says that the host found its own files damaged, and what it saved and lost, until the person dismisses it. */
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
