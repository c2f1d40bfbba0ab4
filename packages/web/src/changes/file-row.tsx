/** One changed file: what became of it, in a line; unfolded, all of it. */
import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol';
import { useState } from 'react';
import { Icon } from '../ui/icons.js';
import { FileBody } from './file-body.js';
import { fileName, stagedWord, stateOf } from './file-state.js';
import type { Operations } from './use-operation.js';

interface Props {
  readonly file: ChangesetFile;
  readonly folder: string | undefined;
  /** Everything that can be done here. */
  readonly operations: readonly ChangesetOperation[];
  readonly run: Operations;
}

export function FileRow({ file, folder, operations, run }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { edit } = file;
  const { letter, word } = stateOf(edit);
  const name = fileName(edit, folder);
  const staged = stagedWord(file);
  return (
    <li className={`change ${isOpen ? 'is-open' : ''}`}>
      <button type="button" className="change-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="twist">
          <Icon name="chevron" />
        </span>
        <span className={`letter is-${letter}`} title={word}>
          <span aria-hidden="true">{letter}</span>
          <span className="visually-hidden">{word}</span>
        </span>
        <span className="path" title={name}>
          {name}
        </span>
        {staged && <span className="tag">{staged}</span>}
        {edit.diff?.added !== undefined && edit.diff.added > 0 && <span className="added">+{edit.diff.added}</span>}
        {edit.diff?.removed !== undefined && edit.diff.removed > 0 && (
          <span className="removed">−{edit.diff.removed}</span>
        )}
      </button>
      {isOpen && <FileBody file={file} name={name} operations={operations} run={run} />}
    </li>
  );
}
