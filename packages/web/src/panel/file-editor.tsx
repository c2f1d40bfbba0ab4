/** A small editor for customizations that may be written. */
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { type LoadedFile, loadFile, saveFile } from '../host/files.js';
import { problemText } from '../host/problem.js';
import { AutoText } from '../ui/auto-text.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';

interface Props {
  readonly uri: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** What was written and not saved, by file: Escape is pressed quickly. */
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
  /** Undefined: it is read once more. */
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
