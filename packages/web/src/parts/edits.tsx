/** File edits of a tool call as diffs, and loading both sides of an edit. */
import type { Client } from '@atrium/client';
import { type FileEdit, type FileEditSide, toolInputObject } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { DiffLines } from '../diff/diff-lines.js';
import { FileLink } from '../files/file-link.js';
import { useHost } from '../host/context.js';
import { contentText, fromBase64 } from './content-text.js';

interface Props {
  readonly edits: readonly FileEdit[];
  /** The input of the call, which may have content that the files do not have yet. */
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
  /** The edit belongs to a permission question, so the page shows all of it. */
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
        <FileLink uri={uri} line={typeof texts === 'object' ? firstChange(texts) : undefined} />
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

/** The first different line, from 0 on; undefined if the texts are only pieces of the file. */
function firstChange({ before, after }: EditTexts): number | undefined {
  if (before === '') return undefined;
  const [old, now] = [before.split('\n'), after.split('\n')];
  const line = now.findIndex((text, index) => text !== old[index]);
  return line < 0 ? undefined : line;
}

interface EditTexts {
  readonly before: string;
  readonly after: string;
}

export type LoadedTexts = EditTexts | 'loading' | 'unknown';

/**
 * The two sides of a file edit. Short content travels in the edit itself; the page reads other content from the host.
 * If the host
 * does not hand files out, the input of an editing tool still tells which piece replaces which.
 */
export function useEditTexts(edit: FileEdit, input: string | undefined, isComing = false): LoadedTexts {
  const { client } = useHost();
  const [texts, setTexts] = useState<LoadedTexts>('loading');
  useEffect(() => {
    let isOver = false;
    (isComing ? loadComing(client, edit, input) : load(client, edit))
      .catch(() => textsOfInput(input, edit) ?? ('unknown' as const))
      .then((loaded) => isOver || setTexts(loaded));
    return () => {
      isOver = true;
    };
  }, [client, edit, input, isComing]);
  return texts;
}

async function load(client: Client, { before, after }: FileEdit): Promise<EditTexts> {
  const [old, now] = await Promise.all([textOf(client, before), textOf(client, after)]);
  return { before: old, after: now };
}

/**
 * Content that is too long to travel with the edit is named by its file, which does not hold it before the call has
 * run. Until then only the input has the content.
 */
async function loadComing(client: Client, edit: FileEdit, input: string | undefined): Promise<EditTexts> {
  const { before, after } = edit;
  if (after?.content.uri !== after?.uri || after === undefined) return load(client, edit);
  const content = toolInputObject(input ?? '')?.content;
  if (typeof content !== 'string') throw new Error('The new content is in no place that can be read.');
  return { before: await textOf(client, before), after: content };
}

async function textOf(client: Client, side: FileEditSide | undefined): Promise<string> {
  if (!side) return '';
  const { uri } = side.content;
  if (uri.startsWith('data:')) return decoded(uri);
  return contentText(await client.request('resourceRead', { uri }));
}

function decoded(uri: string): string {
  const comma = uri.indexOf(',');
  const body = uri.slice(comma + 1);
  return uri.slice(0, comma).endsWith(';base64') ? fromBase64(body) : decodeURIComponent(body);
}

/** Editing tools name the old and the new piece; tools that make a file name its whole text. */
function textsOfInput(input: string | undefined, { before }: Pick<FileEdit, 'before'>): EditTexts | undefined {
  try {
    const { oldText, newText, content } = JSON.parse(input ?? '');
    if (typeof oldText === 'string' && typeof newText === 'string') return { before: oldText, after: newText };
    return typeof content === 'string' && !before ? { before: '', after: content } : undefined;
  } catch {
    return undefined;
  }
}
