/** Links to files in the conversation. */
import { useOpenSession } from '../host/context.js';
import { pathIn, pathOf } from '../model/format.js';
import { folderOf } from '../model/sessions.js';
import { VisibleText } from '../ui/visible-text.js';
import { openFile } from './open-file.js';

interface Props {
  readonly uri: string;
  /** The path in the folder, unless given. */
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
      onClick={() => openFile({ session: session.uri, uri, line: line === undefined ? undefined : line + 1 })}
    >
      <VisibleText text={name} />
    </button>
  );
}
