/** The files of the session's folder: all of them, or one. */
import type { SessionState } from '@atrium/protocol';
import { useOpenSession } from '../host/context.js';
import { useStore } from '../model/store.js';
import { FileTree } from './file-tree.js';
import { FileView } from './file-view.js';
import { shownFile } from './shown-file.js';
import './files.css';

export function FilesPanel({ state }: { readonly state: SessionState }) {
  const session = useOpenSession();
  const file = useStore(shownFile);
  const root = state.summary.workingDirectory;
  const isHere = file?.session === session.uri;
  return (
    <div className="files-panel">
      {/* The tree stays as it was unfolded. */}
      {root !== undefined && (
        <div className="files-tree-box" hidden={isHere}>
          <FileTree root={root} />
        </div>
      )}
      {isHere && <FileView key={file.uri} file={file} />}
    </div>
  );
}
