/** The folder to work in: type it, or walk there when the host lets clients look at its folders. */
import { useId, useState } from 'react';
import { useFolders } from './use-folders.js';

interface Props {
  readonly value: string;
  readonly onChange: (path: string) => void;
}

export function FolderField({ value, onChange }: Props) {
  const ids = { field: useId(), list: useId() };
  const [isOpen, setOpen] = useState(false);
  const folders = useFolders(value, isOpen);
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
          {folders.map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
      </div>
    </>
  );
}
