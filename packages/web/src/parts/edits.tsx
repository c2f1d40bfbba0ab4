/** Changes of files, as a diff. */
import type { FileEdit } from '@atrium/protocol';
import { useEffect } from 'react';
import { DiffLines } from '../diff/diff-lines.js';
import { FileLink } from '../files/file-link.js';
import { type LoadedTexts, useEditTexts } from './use-edit-texts.js';

interface Props {
  readonly edits: readonly FileEdit[];
  /** The input of the call, which may tell what the files do not. */
  readonly input: string | undefined;
}

export function Edits({ edits, input }: Props) {
  return edits.map((edit, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: edits have no id and keep their place
    <EditView key={index} edit={edit} input={input} />
  ));
}

interface EditProps {
  readonly edit: FileEdit;
  readonly input: string | undefined;
  /** The change is still to come, and somebody is asked about it: all of it is shown. */
  readonly isAsked?: boolean;
  readonly onTexts?: (texts: LoadedTexts) => void;
}

export function EditView({ edit, input, isAsked = false, onTexts }: EditProps) {
  const texts = useEditTexts(edit, input, isAsked);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is told once for each change of the texts
  useEffect(() => onTexts?.(texts), [texts]);
  const { added, removed } = edit.diff ?? {};
  const uri = edit.after?.uri ?? edit.before?.uri ?? '';
  return (
    <figure className="diff">
      <figcaption>
        <FileLink uri={uri} />
        {!edit.before && <span className="tag">new</span>}
        {!edit.after && <span className="tag">deleted</span>}
        {added !== undefined && <span className="added">+{added}</span>}
        {removed !== undefined && <span className="removed">−{removed}</span>}
      </figcaption>
      {texts === 'loading' && <p className="hint">Loading …</p>}
      {texts === 'unknown' && (
        <p className="hint">
          {added === 0 && removed === 0 && !isAsked
            ? 'Nothing in it changes.'
            : isAsked
              ? 'The change cannot be shown as a difference; the input says what would happen.'
              : 'The content is not available here; the numbers above are all there is.'}
        </p>
      )}
      {typeof texts === 'object' && <DiffLines {...texts} path={uri} isAsked={isAsked} />}
    </figure>
  );
}
