/** Sessions of other programs on the host's machine: a person chooses some, and they are imported one after the other. */
import { useEffect, useRef, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { Dialog } from '../ui/dialog.js';
import { useLongWork } from '../ui/long-work.js';

interface Found {
  readonly program: string;
  readonly programName: string;
  readonly id: string;
  readonly title: string;
  /** The URI of a folder. */
  readonly folder?: string;
  readonly modifiedAt: string;
  /** The session of an earlier import. */
  readonly session?: string;
}

export function ImportSessions({ onClose }: { readonly onClose: () => void }) {
  const { client } = useHost();
  const [found, setFound] = useState<readonly Found[]>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [done, setDone] = useState<number>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const isStopped = useRef(false);
  const work = useLongWork();
  useEffect(() => {
    // Closing the dialog stops the import after the current session.
    isStopped.current = false;
    client.requestExtension('atrium/findImports').then(
      (answer) => setFound((answer as { items: readonly Found[] }).items),
      (error) => setProblems([problemText(error)]),
    );
    return () => {
      isStopped.current = true;
    };
  }, [client]);
  const fresh = found?.filter(({ session }) => session === undefined) ?? [];
  const isBusy = done !== undefined && done < chosen.size;
  const importChosen = async () => {
    let count = 0;
    setProblems([]);
    setDone(0);
    for (const each of fresh.filter((one) => chosen.has(keyOf(one)))) {
      if (isStopped.current) return;
      try {
        await work.run('atrium/importFound', { program: each.program, id: each.id });
      } catch (error) {
        setProblems((before) => [...before, `${each.title}: ${problemText(error)}`]);
      }
      setDone(++count);
    }
  };
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  return (
    <Dialog title="Sessions of other programs" onClose={onClose} className="import-sessions">
      {found && fresh.length === 0 && (
        <p>{found.length === 0 ? 'None were found on the machine of the host.' : 'All of them are here already.'}</p>
      )}
      {!found && problems.length === 0 && <p className="hint">Looking for them…</p>}
      {problems.map((problem) => (
        <p key={problem} className="problem" role="alert">
          {problem}
        </p>
      ))}
      {fresh.length > 0 && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void importChosen();
          }}
        >
          <label className="check">
            <input
              type="checkbox"
              data-first-focus
              disabled={done !== undefined}
              checked={chosen.size === fresh.length}
              onChange={({ target }) => setChosen(new Set(target.checked ? fresh.map(keyOf) : []))}
            />
            All {fresh.length}
          </label>
          <ul>
            {fresh.map((each) => (
              <li key={keyOf(each)}>
                <label className="check">
                  <input
                    type="checkbox"
                    disabled={done !== undefined}
                    checked={chosen.has(keyOf(each))}
                    onChange={() => toggle(keyOf(each))}
                  />
                  <span className="title">{each.title}</span>
                </label>
                <span className="hint">{aboutOf(each)}</span>
              </li>
            ))}
          </ul>
          {done === undefined ? (
            <button type="submit" className="primary" disabled={chosen.size === 0}>
              Import {chosen.size > 0 && chosen.size}
            </button>
          ) : (
            <p role="status">
              {isBusy
                ? `${done} of ${chosen.size}: ${work.progress?.message ?? ''}…`
                : `${done - problems.length} imported.`}{' '}
              <button
                type="button"
                onClick={() => {
                  work.stop();
                  onClose();
                }}
              >
                {isBusy ? 'Stop' : 'Close'}
              </button>
            </p>
          )}
        </form>
      )}
      <p className="hint">Their files do not change. You can continue imported sessions here.</p>
    </Dialog>
  );
}

function keyOf({ program, id }: Found): string {
  return `${program}/${id}`;
}

function aboutOf({ programName, modifiedAt, folder }: Found): string {
  const place = folder === undefined ? undefined : decodeURIComponent(new URL(folder).pathname);
  return [programName, modifiedAt.slice(0, 10), place].filter(Boolean).join(' · ');
}
