/**
 * Lets a person walk through the folders of the host and choose one. If the host lists none, they can type the path.
 */
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { lastPart, matches, pathOf, uriOf } from '../model/format.js';
import { Dialog } from '../ui/dialog.js';
import { hasKeyboard } from '../ui/focus.js';
import { Icon } from '../ui/icons.js';
import { accessProblem, type Entry, entriesOf, parentUri, stepsTo } from './entries.js';
import { VirtualList } from './virtual-list.js';
import './files.css';

interface Props {
  /** The path in the field, from which the walk begins. */
  readonly start: string;
  readonly onPick: (path: string) => void;
  readonly onClose: () => void;
}

export function FolderPicker({ start, onPick, onClose }: Props) {
  const { client } = useHost();
  const begin = uriOf(start) ?? client.host.defaultDirectory ?? 'file:///';
  const [folder, setFolder] = useState(begin.replace(/(?<=[^/])\/$/, ''));
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const { entries, problem } = useFolders(folder);
  // People rarely want hidden folders; typing a dot shows them.
  const shown = entries.filter(({ name }) => matches(query, name) && (!name.startsWith('.') || query.startsWith('.')));
  const go = (uri: string | undefined) => {
    if (uri === undefined) return;
    setFolder(uri);
    setQuery('');
    setActive(0);
  };
  const isHome = folder === client.host.defaultDirectory;
  return (
    <Dialog title="Choose a folder" className="folder-picker" onClose={onClose}>
      <Crumbs folder={folder} onGo={go} />
      <input
        type="search"
        data-first-focus={hasKeyboard() || undefined}
        aria-label="Filter folders"
        placeholder={`Filter folders in ${lastPart(pathOf(folder))}`}
        value={query}
        onChange={({ target }) => {
          setQuery(target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          go(shown[active]?.uri);
        }}
      />
      {problem !== undefined ? (
        <div className="picker-note" role="alert">
          <p>{problem}</p>
          <p className="hint">You can close this and type the path instead: a session may still work there.</p>
          {!isHome && client.host.defaultDirectory !== undefined && (
            <button type="button" className="small" onClick={() => go(client.host.defaultDirectory)}>
              Begin where the host begins
            </button>
          )}
        </div>
      ) : (
        <FolderList shown={shown} active={active} onActive={setActive} onGo={go} up={parentUri(folder)} />
      )}
      <div className="buttons">
        <button
          type="button"
          className="primary"
          disabled={problem !== undefined}
          onClick={() => {
            onPick(pathOf(folder));
            onClose();
          }}
        >
          Use {lastPart(pathOf(folder)) || '/'}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface ListProps {
  readonly shown: readonly Entry[];
  readonly active: number;
  readonly onActive: (index: number) => void;
  readonly onGo: (uri: string | undefined) => void;
  readonly up: string | undefined;
}

function FolderList({ shown, active, onActive, onGo, up }: ListProps) {
  return (
    <div className="picker-list">
      {shown.length === 0 && <p className="hint">No folders in here.</p>}
      <VirtualList
        label="Folders"
        names={shown.map(({ name }) => name)}
        active={active}
        onActive={onActive}
        onOpen={(index) => onGo(shown[index]?.uri)}
        onKey={(key, index) => {
          if (key === 'ArrowRight') onGo(shown[index]?.uri);
          else if (key === 'ArrowLeft' || key === 'Backspace') onGo(up);
          else return false;
          return true;
        }}
        row={(index) => (
          <>
            <Icon name="folder" />
            <span className="name">{shown[index]?.name}</span>
          </>
        )}
      />
    </div>
  );
}

interface Folders {
  readonly entries: readonly Entry[];
  readonly problem: string | undefined;
}

function useFolders(folder: string): Folders {
  const { client } = useHost();
  const [found, setFound] = useState<Folders>({ entries: [], problem: undefined });
  useEffect(() => {
    let isOver = false;
    entriesOf(client, folder).then(
      (entries) => isOver || setFound({ entries: entries.filter(({ isFolder }) => isFolder), problem: undefined }),
      (error) => isOver || setFound({ entries: [], problem: accessProblem(error, 'folder') }),
    );
    return () => {
      isOver = true;
    };
  }, [client, folder]);
  return found;
}

interface CrumbsProps {
  readonly folder: string;
  readonly onGo: (uri: string) => void;
}

/** The path of a folder, with a button for each step. */
function Crumbs({ folder, onGo }: CrumbsProps) {
  const steps = stepsTo(folder);
  return (
    <nav className="crumbs" aria-label="Path">
      {steps.map(({ uri, name }, index) => (
        <button
          key={uri}
          type="button"
          className="quiet small"
          aria-current={index === steps.length - 1 ? 'location' : undefined}
          onClick={() => onGo(uri)}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}
