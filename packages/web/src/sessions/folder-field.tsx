/** The folder to work in: an earlier one, a typed one, or one from the picker if the host lists its folders. */
import type { Client } from '@atrium/client';
import { lazy, Suspense, useEffect, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { uriOf } from '../model/format.js';
import { usedFolders } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Icon } from '../ui/icons.js';

/** Few people need the picker, so it loads only when somebody opens it. */
const FolderPicker = lazy(() =>
  import('../files/folder-picker.js').then((module) => ({ default: module.FolderPicker })),
);

interface Props {
  readonly value: string;
  readonly onChange: (path: string) => void;
}

export function FolderField({ value, onChange }: Props) {
  const { link } = useHost();
  const ids = { field: useId(), list: useId() };
  const [isOpen, setOpen] = useState(false);
  const [isPicking, setPicking] = useState(false);
  const folders = new Set([...usedFolders(useStore(link.sessions) ?? []), ...useFolders(value, isOpen)]);
  return (
    <>
      <label htmlFor={ids.field}>Folder</label>
      <div className="folder-field">
        <input
          id={ids.field}
          type="text"
          spellCheck={false}
          autoComplete="off"
          placeholder="/home/me/project"
          value={value}
          list={ids.list}
          onFocus={() => setOpen(true)}
          onChange={(event) => onChange(event.target.value)}
        />
        <datalist id={ids.list}>
          {[...folders].map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
        <button type="button" className="small" aria-label="Browse folders" onClick={() => setPicking(true)}>
          <Icon name="folder" /> <span className="word">Browse</span>
        </button>
        {isPicking && (
          <Suspense fallback={null}>
            <FolderPicker start={value} onPick={onChange} onClose={() => setPicking(false)} />
          </Suspense>
        )}
      </div>
    </>
  );
}

const WAIT_MS = 200;
const SHOWN_MAX = 50;
/** Hosts that refused once to list folders, which the page does not ask again. */
const silent = new WeakSet<Client>();

/** The folders beside and below the typed path, as far as the host lists them. */
function useFolders(path: string, isWanted: boolean): readonly string[] {
  const { client } = useHost();
  const [folders, setFolders] = useState<readonly string[]>([]);
  const parent = parentOf(path);
  useEffect(() => {
    const uri = uriOf(parent);
    if (!isWanted || uri === undefined || silent.has(client)) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const found = await list(client, uri, parent);
      if (!isOver) setFolders(found);
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, parent, isWanted]);
  return folders;
}

async function list(client: Client, uri: string, parent: string): Promise<string[]> {
  try {
    const { entries } = await client.request('resourceList', { uri });
    const folders = entries.filter(({ type, name }) => type === 'directory' && !name.startsWith('.'));
    return folders.slice(0, SHOWN_MAX).map(({ name }) => `${parent}${name}/`);
  } catch (error) {
    if (error instanceof Error && error.name === 'MethodNotFound') silent.add(client);
    return [];
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
