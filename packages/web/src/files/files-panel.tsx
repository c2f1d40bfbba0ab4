/** The files of the session's folder: all of them, or one. */
import type { Client } from '@atrium/client';
import type { SessionState } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { lastPart, pathOf } from '../model/format.js';
import { folderOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Icon, IconButton } from '../ui/icons.js';
import { FileView } from './file-view.js';
import { FolderTree, type TreeRow } from './folder-tree.js';
import { shownFile } from './shown-file.js';
import { VirtualList } from './virtual-list.js';
import './files.css';

export function FilesPanel({ state }: { readonly state: SessionState }) {
  const session = useOpenSession();
  const file = useStore(shownFile);
  const root = folderOf(state);
  const isHere = file?.session === session.uri;
  return (
    <div className="files-panel">
      {/* The tree remembers its unfolded folders. */}
      {root !== undefined && (
        <div className="files-tree-box" hidden={isHere}>
          <FileTree root={root} />
        </div>
      )}
      {isHere && <FileView key={file.uri} file={file} />}
    </div>
  );
}

/** The folder of the session as a tree. Right and left unfold and fold, as everywhere. */
function FileTree({ root }: { readonly root: string }) {
  const { client } = useHost();
  const tree = treeOf(client, root);
  useEffect(() => {
    tree.resume();
    return () => tree.pause();
  }, [tree]);
  return <Tree tree={tree} />;
}

/** The last tree, so that its folders stay unfolded when the panel opens again. */
let last: FolderTree | undefined;

function treeOf(client: Client, root: string): FolderTree {
  if (last?.client !== client || last.root !== root) last = new FolderTree(client, root);
  return last;
}

function Tree({ tree }: { readonly tree: FolderTree }) {
  const session = useOpenSession();
  const rows = useStore(tree.rows);
  const [active, setActive] = useState(0);
  const at = Math.min(active, Math.max(0, rows.length - 1));
  const toggle = ({ uri, isOpen }: TreeRow) => (isOpen ? tree.close(uri) : tree.open(uri));
  const open = (index: number) => {
    const row = rows[index];
    if (!row || row.note !== undefined) return;
    if (row.isFolder) toggle(row);
    else shownFile.set({ session: session.uri, uri: row.uri });
  };
  const key = (pressed: string, index: number) => {
    const row = rows[index];
    if (!row || (pressed !== 'ArrowRight' && pressed !== 'ArrowLeft')) return false;
    if (pressed === 'ArrowRight' && row.isFolder && !row.isOpen) tree.open(row.uri);
    else if (pressed === 'ArrowRight') setActive(Math.min(rows.length - 1, index + 1));
    else if (row.isOpen) tree.close(row.uri);
    else setActive(parentOf(rows, index));
    return true;
  };
  return (
    <div className="files-tree">
      <header className="files-head">
        <span className="path" title={pathOf(tree.root)}>
          {lastPart(pathOf(tree.root))}
        </span>
        <IconButton icon="refresh" label="Look again" onClick={() => tree.refresh()} />
      </header>
      <VirtualList
        label="Files"
        names={rows.map(({ name }) => name)}
        active={at}
        onActive={setActive}
        onOpen={open}
        onKey={key}
        rowProps={(index) => ({
          level: (rows[index]?.depth ?? 0) + 1,
          isOpen: rows[index]?.isFolder ? rows[index].isOpen : undefined,
        })}
        row={(index) => rows[index] && <RowView row={rows[index]} />}
      />
    </div>
  );
}

function RowView({ row: { depth, name, isFolder, isOpen, note } }: { readonly row: TreeRow }) {
  const indent = { paddingInlineStart: `${depth * 16}px` };
  if (note !== undefined)
    return (
      <span className="hint tree-row" style={indent}>
        {note}
      </span>
    );
  return (
    <span className={`tree-row ${isOpen ? 'is-open' : ''}`} style={indent}>
      <span className="twist">{isFolder && <Icon name="chevron" />}</span>
      <Icon name={isFolder ? 'folder' : 'file'} />
      <span className="name">{name}</span>
    </span>
  );
}

/** The nearest row above with a lower level. */
function parentOf(rows: readonly TreeRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  const above = rows.findLastIndex((row, at) => at < index && row.depth < depth);
  return above === -1 ? index : above;
}
