/** A small editor for writable customizations. */
import { type Client, RequestError } from '@atrium/client';
import { ErrorCode } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { AutoText } from '../ui/auto-text.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';

interface Props {
  readonly uri: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Unsaved texts by file, because people press Escape quickly. */
const drafts = new Map<string, LoadedFile>();

export function FileEditor({ uri, name, onClose }: Props) {
  const { client } = useHost();
  const [file, setFile] = useState(drafts.get(uri));
  const [theirs, setTheirs] = useState<LoadedFile>();
  const [problem, setProblem] = useState<string>();
  const isLoaded = file !== undefined;
  useEffect(() => {
    if (!isLoaded) loadFile(client, uri).then(setFile, (error) => setProblem(problemText(error)));
  }, [client, uri, isLoaded]);

  const save = async (version: LoadedFile) => {
    try {
      const result = await saveFile(client, uri, version);
      if (result.kind === 'conflict') return setTheirs(result.theirs);
      drafts.delete(uri);
      tell(`${name} is saved.`);
      onClose();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  const write = (version: LoadedFile) => {
    drafts.set(uri, version);
    setFile(version);
  };
  /** Undefined: reads the file again. */
  const take = (version: LoadedFile | undefined) => {
    drafts.delete(uri);
    setFile(version);
    setTheirs(undefined);
  };
  return (
    <Dialog title={`Edit ${name}`} className="editor" onClose={onClose}>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {file && (
        <AutoText className="mono" label="Content" value={file.text} onChange={(text) => write({ ...file, text })} />
      )}
      {theirs && <p role="alert">Somebody changed this file meanwhile. Nothing was written; choose what to keep.</p>}
      {file && !theirs && (
        <div className="buttons">
          <button type="button" className="primary" onClick={() => void save(file)}>
            Save
          </button>
          {drafts.has(uri) && (
            <button type="button" onClick={() => take(undefined)}>
              Undo all
            </button>
          )}
        </div>
      )}
      {file && theirs && (
        <div className="buttons">
          <button type="button" className="primary" onClick={() => take(theirs)}>
            Show theirs
          </button>
          <button type="button" className="danger" onClick={() => void save({ ...file, etag: theirs.etag })}>
            Keep mine
          </button>
        </div>
      )}
    </Dialog>
  );
}

interface LoadedFile {
  readonly text: string;
  /** Names this version; absent when the host does not tell versions apart. */
  readonly etag: string | undefined;
}

type SaveResult =
  | { readonly kind: 'saved'; readonly file: LoadedFile }
  /** The current file, for the person to decide. */
  | { readonly kind: 'conflict'; readonly theirs: LoadedFile };

/**
 * Reads and writes a file of the host. Every write names the version that it replaces. When another client was faster,
 * the editor
 * reads the file again and shows the conflict; it never overwrites the file without a decision of the person.
 */
async function loadFile(client: Client, uri: string): Promise<LoadedFile> {
  const { etag } = await client.request('resourceResolve', { uri });
  const { data } = await client.request('resourceRead', { uri, encoding: 'utf-8' });
  return { text: data, etag };
}

async function saveFile(client: Client, uri: string, { text, etag }: LoadedFile): Promise<SaveResult> {
  const base = etag === undefined ? {} : { ifMatch: etag };
  try {
    await client.request('resourceWrite', { uri, data: text, encoding: 'utf-8', mode: 'truncate', ...base });
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== ErrorCode.Conflict) throw error;
    return { kind: 'conflict', theirs: await loadFile(client, uri) };
  }
  const { etag: now } = await client.request('resourceResolve', { uri });
  return { kind: 'saved', file: { text, etag: now } };
}
