/** The comments on one changed file, and the form for another one. */
import type { Annotation } from '@atrium/protocol/ahp-1';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { plainText } from '../parts/tool-words.js';
import { AutoText } from '../ui/auto-text.js';
import { IconButton } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { type Comments, isSent } from './annotations.js';

interface Props {
  readonly comments: Comments;
  readonly resource: string;
  /** The line of the comment that the person writes, from 1 on; undefined while they write none. */
  readonly line: number | undefined;
  readonly onLine: (line: number | undefined) => void;
}

export function FileComments({ comments, resource, line, onLine }: Props) {
  const own = comments.items.filter((each) => each.resource === resource && !each.resolved);
  return (
    <div className="file-comments">
      {own.length > 0 && (
        <ul aria-label="Comments">
          {own.map((each) => (
            <Comment key={each.id} annotation={each} onRemove={() => comments.remove(each.id)} />
          ))}
        </ul>
      )}
      {line !== undefined && (
        <CommentForm
          line={line}
          onLine={onLine}
          onAdd={(text) => {
            comments.add(resource, line, text);
            onLine(undefined);
          }}
        />
      )}
    </div>
  );
}

function Comment({ annotation, onRemove }: { readonly annotation: Annotation; readonly onRemove: () => void }) {
  const { range, entries } = annotation;
  const text = entries.map((entry) => plainText(entry.text)).join('\n');
  return (
    <li>
      {range && <span className="tag">Line {range.start.line + 1}</span>}
      <span className="text">
        <VisibleText text={text} mode="lines" />
      </span>
      <span className="hint">{isSent(annotation) ? 'sent' : 'goes with your next message'}</span>
      <IconButton icon="close" label="Remove the comment" onClick={onRemove} />
    </li>
  );
}

interface FormProps {
  readonly line: number;
  readonly onLine: (line: number | undefined) => void;
  readonly onAdd: (text: string) => void;
}

function CommentForm({ line, onLine, onAdd }: FormProps) {
  const id = useId();
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const add = () => {
    if (text.trim() !== '') onAdd(text.trim());
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add();
  };
  return (
    <form aria-label="Comment" onSubmit={submit}>
      <label htmlFor={id}>Line</label>
      <input
        id={id}
        type="number"
        min={1}
        value={line}
        onChange={({ target }) => target.valueAsNumber >= 1 && onLine(Math.floor(target.valueAsNumber))}
      />
      <AutoText
        ref={field}
        label="Comment on this line"
        placeholder="What should change here?"
        value={text}
        onChange={setText}
        onEnter={add}
        onKeyDown={({ key }) => key === 'Escape' && onLine(undefined)}
      />
      <div className="buttons">
        <button type="submit" className="small primary" disabled={text.trim() === ''}>
          Comment
        </button>
        <button type="button" className="quiet small" onClick={() => onLine(undefined)}>
          Cancel
        </button>
      </div>
    </form>
  );
}
