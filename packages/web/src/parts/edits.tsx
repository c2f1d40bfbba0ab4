/** Changes of files, as a diff. */
import type { FileEdit } from '@atrium/protocol';
import { useMemo, useState } from 'react';
import { FileLink } from '../files/file-link.js';
import { diffLines, hunks } from '../model/diff.js';
import { plural } from '../model/format.js';
import { useEditTexts } from './use-edit-texts.js';

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

function EditView({ edit, input }: { readonly edit: FileEdit; readonly input: string | undefined }) {
  const texts = useEditTexts(edit, input);
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
          {added === 0 && removed === 0
            ? 'Nothing in it changes.'
            : 'The content is not available here; the numbers above are all there is.'}
        </p>
      )}
      {typeof texts === 'object' && <DiffLines before={texts.before} after={texts.after} />}
    </figure>
  );
}

/** More lines are shown when somebody asks for them. */
const LINES_MAX = 200;
const SIGNS = { added: '+', removed: '−', same: ' ' } as const;

export function DiffLines({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => hunks(diffLines(before, after)), [before, after]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, LINES_MAX);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {shown.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id and keep their place
          <span key={index} className={`line ${line.kind}`}>
            {line.kind === 'gap' ? `⋯ ${line.lines} unchanged` : `${SIGNS[line.kind]} ${line.text}`}
            {'\n'}
          </span>
        ))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          Show {plural(lines.length - shown.length, 'more line')}
        </button>
      )}
    </>
  );
}
