/** The folder to work in: one of those that were used before, typed, or walked to where the host lists its folders. */
import { lazy, Suspense, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { usedFolders } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Icon } from '../ui/icons.js';
import { useFolders } from './use-folders.js';

/** Few people need it, and those have the time that it takes to arrive. */
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
