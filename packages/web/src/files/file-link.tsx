/** Links to files in the conversation, and which file the panel shows. */
import { useOpenSession } from '../host/context.js';
import { pathIn, pathOf } from '../model/format.js';
import { folderOf } from '../model/sessions.js';
import { Store } from '../model/store.js';
import { openPanel } from '../ui/panel-state.js';
import { VisibleText } from '../ui/visible-text.js';

interface Props {
  readonly uri: string;
  /** Its path in the folder, unless given. */
  readonly label?: string;
  readonly line?: number | undefined;
}

export function FileLink({ uri, label, line }: Props) {
  const session = useOpenSession();
  const name = label ?? pathIn(uri, folderOf(session.state));
  if (!uri.startsWith('file:'))
    return (
      <span className="path">
        <VisibleText text={name} />
      </span>
    );
  return (
    <button
      type="button"
      className="file-link path"
      title={`Open ${pathOf(uri)}`}
      onClick={() => showFile({ session: session.uri, uri, line })}
    >
      <VisibleText text={name} />
    </button>
  );
}

export interface ShownFile {
  readonly session: string;
  readonly uri: string;
  /** From 0 on. */
  readonly line?: number | undefined;
}

/** Which file is shown beside the conversation. */
export const shownFile = new Store<ShownFile | undefined>(undefined);

export function showFile(file: ShownFile): void {
  shownFile.set(file);
  openPanel('files');
}
