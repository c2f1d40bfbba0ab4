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

export function FileEditor({ uri, name, onClose }: Props) {
  const { client } = useHost();
  const [file, setFile] = useState<LoadedFile>();
  const [theirs, setTheirs] = useState<LoadedFile>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    loadFile(client, uri).then(setFile, (error) => setProblem(problemText(error)));
  }, [client, uri]);

  const save = async (version: LoadedFile) => {
    try {
      const result = await saveFile(client, uri, version);
      if (result.kind === 'conflict') return setTheirs(result.theirs);
      tell(`${name} is saved.`);
      onClose();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  const take = (version: LoadedFile) => {
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
        <AutoText className="mono" label="Content" value={file.text} onChange={(text) => setFile({ ...file, text })} />
      )}
      {theirs && <p role="alert">Somebody changed this file meanwhile. Nothing was written; choose what to keep.</p>}
      {file && !theirs && (
        <div className="buttons">
          <button type="button" className="primary" onClick={() => void save(file)}>
            Save
          </button>
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
