/**
 * Shows a person what would run: the changes of files, and the parts of the input that the changes do not show. Nothing
 * of it can
 * be folded away while the question is open.
 */
import {
  type FileEdit,
  membersBesideEdits,
  type ShownEdit,
  type ToolCallPendingConfirmationState,
  toolInputMembers,
} from '@atrium/protocol/ahp-1';
import { useCallback, useMemo, useState } from 'react';
import { VisibleLines, VisibleText } from '../ui/visible-text.js';
import { EditView, type LoadedTexts } from './edits.js';
import { isReadable, lineCount, ReadBox, useReading } from './reading.js';

/** A longer value goes below its name and has the whole width. */
const ROW_CHARACTERS = 60;
const NO_EDITS: readonly FileEdit[] = [];

interface Props {
  readonly call: ToolCallPendingConfirmationState;
  readonly input: string;
}

export function AskedBody({ call, input }: Props) {
  const { edits: { items: edits = NO_EDITS } = {} } = call;
  const [texts, setTexts] = useState<ReadonlyMap<number, LoadedTexts>>(new Map());
  const loaded = useCallback(
    (index: number, text: LoadedTexts) => setTexts((before) => new Map([...before, [index, text]])),
    [],
  );
  const members = useMemo(() => {
    const shown = edits.flatMap((edit, index): ShownEdit[] => {
      const text = texts.get(index);
      return typeof text === 'object' ? [{ uri: edit.after?.uri ?? edit.before?.uri ?? '', ...text }] : [];
    });
    return membersBesideEdits(toolInputMembers(input), shown);
  }, [input, edits, texts]);
  const isLoading = edits.some((_, index) => (texts.get(index) ?? 'loading') === 'loading');
  useReading(isLoading ? 'loading' : 'read');
  return (
    <div className="tool-body">
      {!isLoading && members.length > 0 && <Input members={members} />}
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: edits have no id and keep their place
        <EditView key={index} edit={edit} input={input} isAsked onTexts={(text) => loaded(index, text)} />
      ))}
      {edits.length === 0 && members.length === 0 && <p className="hint">It gets no input.</p>}
    </div>
  );
}

function Input({ members }: { readonly members: ReturnType<typeof toolInputMembers> }) {
  const isWhole = isReadable(members.map(({ name, text }) => `${name} ${text}`).join('\n'));
  useReading(isWhole ? 'read' : 'too-long');
  const lines = members.reduce((sum, { text }) => sum + lineCount(text), 0);
  if (!isWhole)
    return <p className="problem">The input has {lines.toLocaleString('en')} lines: too long to be read here.</p>;
  return (
    <ReadBox label="Input" lines={lines}>
      <dl className="tool-input is-whole">
        {members.map(({ name, text }) => (
          <div key={name} className={text.includes('\n') || text.length > ROW_CHARACTERS ? 'is-long' : ''}>
            {name !== '' && (
              <dt>
                <VisibleText text={name} />
              </dt>
            )}
            <dd>
              <VisibleLines text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </ReadBox>
  );
}
