/** The head of a conversation: its title, which can be changed in place, and how it is doing. */
import type { SessionState } from '@atrium/protocol';
import { useState } from 'react';
import { useActivityWord, useHost, useOpenSession } from '../host/context.js';
import { hashOf } from '../host/router.js';
import { pathOf } from '../model/format.js';
import { placeOf } from '../model/place.js';
import { activityOf, isArchived } from '../model/status.js';
import { useStore } from '../model/store.js';
import { IconButton } from '../ui/icon-button.js';
import { Icon } from '../ui/icons.js';
import { isPanelOpen, togglePanel } from '../ui/panel-switch.js';

export function SessionHeader({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const { agents } = useStore(link.root);
  const { summary } = state;
  const activity = activityOf(summary);
  const word = useActivityWord(activity);
  const agent = agents.find(({ provider }) => provider === summary.provider)?.displayName ?? summary.provider;
  const folder = summary.workingDirectory && pathOf(summary.workingDirectory);
  return (
    <header className="session-header">
      <a className="icon-button back" href={hashOf({ at: 'home' })} aria-label="All sessions">
        <Icon name="back" />
      </a>
      <div className="heading">
        <Title title={summary.title} />
        <p>
          <span className={`word ${activity}`}>{word}</span>
          {` · ${agent}`}
          {folder && <span title={folder}>{` · ${placeOf(summary)}`}</span>}
          {isArchived(summary) && ' · Archived'}
        </p>
      </div>
      <IconButton icon="panel" label="Details" onClick={togglePanel} isPressed={useStore(isPanelOpen)} />
    </header>
  );
}

function Title({ title }: { readonly title: string }) {
  const session = useOpenSession();
  const [draft, setDraft] = useState<string>();
  if (draft === undefined)
    return (
      <h1>
        <button type="button" className="title-button" title="Rename" onClick={() => setDraft(title)}>
          {title || 'Untitled'}
        </button>
      </h1>
    );
  const done = (isKept: boolean) => {
    const text = draft.trim();
    if (isKept && text !== '' && text !== title) session.dispatch({ type: 'session/titleChanged', title: text });
    setDraft(undefined);
  };
  return (
    <input
      className="title-input"
      aria-label="Title"
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to change it
      autoFocus
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => done(true)}
      onKeyDown={({ key }) => (key === 'Enter' || key === 'Escape') && done(key === 'Enter')}
    />
  );
}
