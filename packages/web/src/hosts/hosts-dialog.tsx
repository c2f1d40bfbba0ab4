/** The hosts of a cluster: which one is active, who stands by, how the engine is. The owner sends a host away here. */
import {
  type ClusterHost,
  type ClusterReport,
  DRAIN_HOST_METHOD,
  HOSTS_METHOD,
  readClusterReport,
} from '@atrium/protocol/ahp-1';
import { useCallback, useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { clusterOf } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { plural } from '../model/format.js';
import { Dialog } from '../ui/dialog.js';
import './hosts.css';

const LOOK_MS = 2_000;
/** A commit waits for the engine: beyond this, people notice. */
const SLOW_MS = 10;

export function HostsDialog({ onClose }: { readonly onClose: () => void }) {
  const { client } = useHost();
  const { report, problem, look } = useReport();
  const [isRefused, setRefused] = useState<string>();
  const drain = async (host: string) => {
    setRefused(undefined);
    await client.requestExtension(DRAIN_HOST_METHOD, { host }).catch((error) => setRefused(problemText(error)));
    await look();
  };
  const shown = problem ?? isRefused;
  return (
    <Dialog title="Hosts" className="hosts" onClose={onClose}>
      {shown && (
        <p className="problem" role="alert">
          {shown}
        </p>
      )}
      {report && (
        <>
          <ul className="host-list" aria-label="Hosts">
            {report.hosts.map((host) => (
              <HostRow
                key={host.id}
                host={host}
                isThis={host.id === clusterOf(client)?.host}
                isLast={
                  !report.hosts.some(({ id, state, isLeaving }) => id !== host.id && state !== 'gone' && !isLeaving)
                }
                onDrain={() => void drain(host.id)}
              />
            ))}
          </ul>
          <EngineFacts report={report} />
        </>
      )}
    </Dialog>
  );
}

function useReport() {
  const { client } = useHost();
  const [report, setReport] = useState<ClusterReport>();
  const [problem, setProblem] = useState<string>();
  const look = useCallback(async () => {
    try {
      const found = readClusterReport(await client.requestExtension(HOSTS_METHOD, {}));
      if (found) setReport(found);
      setProblem(undefined);
    } catch (error) {
      setProblem(problemText(error));
    }
  }, [client]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const again = async () => {
      if (document.visibilityState === 'visible') await look();
      if (!isOver) timer = setTimeout(() => void again(), LOOK_MS);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [look]);
  return { report, problem, look };
}

const STATE_WORDS = { active: 'Active', 'stand-by': 'Stands by', gone: 'Gone' } as const;

interface RowProps {
  readonly host: ClusterHost;
  readonly isThis: boolean;
  /** No other host would be left. */
  readonly isLast: boolean;
  readonly onDrain: () => void;
}

function HostRow({ host, isThis, isLast, onDrain }: RowProps) {
  const { id, state, isLeaving, clients, working, programs, version, joinedAt } = host;
  const [isAsked, setAsked] = useState(false);
  const isHere = state !== 'gone';
  return (
    <li className={`is-${state}`}>
      <div className="host-name">
        <strong className="mono">{id}</strong>
        <span className="host-state">{isLeaving ? `${STATE_WORDS[state]}, leaving` : STATE_WORDS[state]}</span>
        {isThis && <span className="hint">serves this page</span>}
      </div>
      <p className="hint">
        {isHere && `${plural(clients, 'client')} · ${plural(working, 'session')} at work · `}
        {isHere && programs !== undefined && `${plural(programs, 'program')} of agents · `}
        {version} · {isHere ? 'joined' : 'had joined'} {new Date(joinedAt).toLocaleString()}
      </p>
      {isHere && !isLeaving && !isAsked && (
        <button type="button" className="small" aria-label={`Drain ${id}`} onClick={() => setAsked(true)}>
          Drain
        </button>
      )}
      {isAsked && !isLeaving && (
        <fieldset className="host-question" aria-label={`Drain ${id}?`}>
          <p>{isLast ? 'No other host is there to take over: nobody is served until one starts.' : drainWords(host)}</p>
          <button type="button" className="small primary" onClick={onDrain}>
            Drain {id}
          </button>
          <button type="button" className="small" onClick={() => setAsked(false)}>
            Cancel
          </button>
        </fieldset>
      )}
    </li>
  );
}

function drainWords({ state, programs }: ClusterHost): string {
  if (state !== 'active' && programs !== undefined)
    return 'It gets no more agents and leaves when the turns that those there work on have ended. Its clients connect to another host.';
  if (state !== 'active') return 'It leaves at once. Its clients connect to another host.';
  return 'It begins no more turns and leaves when those that run have ended. Another host takes over, and this page connects again.';
}

function EngineFacts({ report: { engine, volumes } }: { readonly report: ClusterReport }) {
  const { version, roundTripMs, bytes, replicas, synchronous } = engine;
  const copies =
    synchronous > 0
      ? `${plural(synchronous, 'synchronous replica')}: nothing is lost when its machine dies`
      : `${replicas > 0 ? `${plural(replicas, 'replica')}, none of them synchronous` : 'No replica'}: what its machine loses is lost`;
  return (
    <dl className="engine-facts">
      <dt>Engine</dt>
      <dd>
        PostgreSQL {version}, {roundTripMs.toFixed(1)} ms away{roundTripMs >= SLOW_MS && ' (slow)'},{' '}
        {(bytes / 2 ** 20).toFixed(1)} MiB
      </dd>
      <dt>Replicas</dt>
      <dd>{copies}</dd>
      <dt>Shared folders</dt>
      <dd>{volumes.length > 0 ? volumes.join(', ') : 'None'}</dd>
    </dl>
  );
}
