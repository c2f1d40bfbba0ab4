/** The search over all sessions: a field, and the hits with links. */
import type { SearchItem } from '@atrium/protocol/ahp-1';
import { type KeyboardEvent, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { ago, lastPart, pathOf } from '../model/format.js';
import { useStore } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { useNow } from '../ui/use-now.js';
import { useFound } from './ask.js';
import { withoutCopies } from './copies.js';
import { SearchFilters } from './filters.js';
import { openHit } from './jump.js';

const KINDS: Readonly<Record<SearchItem['kind'], string>> = {
  title: 'Title',
  message: 'Message',
  answer: 'Answer',
  reasoning: 'Reasoning',
  tool: 'Tool',
  file: 'Changed file',
};

interface Props {
  readonly first: string;
  readonly onClose: () => void;
}

export function SearchDialog({ first, onClose }: Props) {
  const { link } = useHost();
  const id = useId();
  const now = useNow();
  const [text, setText] = useState(first);
  const [chosen, setChosen] = useState(0);
  const { result, problem, isAsking, more } = useFound(text);
  const sessions = useStore(link.sessions) ?? [];
  const { agents } = useStore(link.root);
  const items = withoutCopies(result?.items ?? [], sessions);
  const go = (item: SearchItem | undefined) => {
    if (!item || !result) return;
    onClose();
    openHit(link, item, result.phrases);
  };
  const choose = (index: number) => {
    setChosen(Math.max(0, Math.min(items.length - 1, index)));
    document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' });
    if (index >= items.length - 1) void more();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) choose(chosen + step);
    else if (event.key === 'Enter') go(items[chosen]?.item);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search everything that was said" className="palette search-dialog" isTitleHidden onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search everything that was said"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={items.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder='Words, "a phrase", -without, agent:claude since:7d'
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={pressed}
      />
      <SearchFilters
        text={text}
        agents={agents}
        sessions={sessions}
        onChange={(next) => {
          setText(next);
          setChosen(0);
        }}
      />
      <div role="listbox" id={id} aria-label="Found">
        {items.map(({ item, copies }, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
          <div
            key={`${item.chat ?? item.session} ${item.turnId ?? ''}`}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === chosen}
            onClick={() => go(item)}
          >
            <span className="hit-title">{item.title || 'Untitled'}</span>
            <span className="hint">
              {[KINDS[item.kind], ago(Date.parse(item.time), now), placeOf(item), copiesText(copies)]
                .filter((part) => part !== '')
                .join(' · ')}
            </span>
            <Snippet item={item} />
          </div>
        ))}
      </div>
      <p className="hint" role="status">
        {problem ?? statusOf({ text, isAsking, count: items.length, isMore: result?.nextCursor !== undefined })}
        {result?.indexing && ` The index is still being made (${result.indexing.done} of ${result.indexing.total}).`}
      </p>
      {result?.nextCursor !== undefined && (
        <button type="button" className="small quiet" onClick={() => void more()}>
          Show more
        </button>
      )}
    </Dialog>
  );
}

function copiesText(copies: number): string {
  return copies === 0 ? '' : `also in ${copies === 1 ? 'a copy' : `${copies} copies`}`;
}

function placeOf({ workingDirectory, provider }: SearchItem): string {
  return workingDirectory === undefined ? provider : lastPart(pathOf(workingDirectory));
}

interface Facts {
  readonly text: string;
  readonly isAsking: boolean;
  readonly count: number;
  readonly isMore: boolean;
}

function statusOf({ text, isAsking, count, isMore }: Facts): string {
  if (text.trim() === '') return 'In messages, answers, reasoning, commands, changed files and titles of all sessions.';
  if (isAsking) return 'Searching …';
  if (count === 0) return 'Nothing found for these words.';
  return `${count}${isMore ? ' or more' : ''} found, the newest first.`;
}

function Snippet({ item: { snippet, ranges } }: { readonly item: SearchItem }) {
  const pieces = [];
  let at = 0;
  for (const [start, end] of ranges) {
    if (start < at) continue;
    pieces.push(snippet.slice(at, start), <mark key={start}>{snippet.slice(start, end)}</mark>);
    at = end;
  }
  return (
    <span className="snippet">
      {pieces}
      {snippet.slice(at)}
    </span>
  );
}
