/** The palette: one field that finds every command and every session. Also the list of shortcuts. */
import { BUILTIN_COMMANDS, type SessionSummary, usageOf } from '@atrium/protocol/ahp-1';
import { type KeyboardEvent, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { clusterOf, isAtrium } from '../host/extensions.js';
import { goTo } from '../host/router.js';
import { matches } from '../model/format.js';
import { ACTIVITY_WORDS, activityOf, isArchived, placeOf, timeOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { openPanel, togglePanel } from '../ui/panel-state.js';
import {
  chooseEditor,
  chooseTheme,
  EDITORS,
  isForScreenReaders,
  THEMES,
  toggleScreenReaders,
} from '../ui/preferences.js';
import { keysOf } from './key-bindings.js';
import { answer, shortcutList } from './shortcuts.js';

const SHOWN_MAX = 14;

interface Props {
  readonly onClose: () => void;
  readonly onOverlay: OnOverlay;
}

export function Palette({ onClose, onOverlay }: Props) {
  const { link, client } = useHost();
  const sessions = useStore(link.sessions) ?? [];
  const id = useId();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = commandsOf({
    sessions,
    isRestoring: isAtrium(client),
    hasHosts: clusterOf(client) !== undefined,
    onOverlay,
  })
    .filter(({ title, detail }) => matches(query, title, detail))
    .slice(0, SHOWN_MAX);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setChosen((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter') run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Commands and sessions" className="palette" isTitleHidden onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Find a command or a session"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder="Find a command or a session"
        autoFocus
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setChosen(0);
        }}
        onKeyDown={pressed}
      />
      <div role="listbox" id={id} aria-label="Found">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
          <div
            key={command.id}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === chosen}
            onClick={() => run(command)}
          >
            <span>{command.title}</span>
            <span className="hint">{command.detail}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="hint">Nothing found for these words.</p>}
    </Dialog>
  );
}

interface Command {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  run(): void;
}

type OnOverlay = (overlay: 'settings' | 'help' | 'deleted' | 'import' | 'usage' | 'search' | 'hosts') => void;

interface Offer {
  readonly sessions: readonly SessionSummary[];
  /** Whether the host restores deleted sessions and imports those of other programs. */
  readonly isRestoring: boolean;
  /** The host is one of a cluster, and this is the page of its owner. */
  readonly hasHosts: boolean;
  readonly onOverlay: OnOverlay;
}

/** Commands of the page first, then sessions; archived ones last. */
function commandsOf({ sessions, isRestoring, hasHosts, onOverlay }: Offer): readonly Command[] {
  const ordered = [...sessions].sort((a, b) => Number(isArchived(a)) - Number(isArchived(b)) || timeOf(b) - timeOf(a));
  return [
    ...pageCommands(onOverlay).filter(
      ({ id }) => (isRestoring || !OF_ATRIUM.includes(id)) && (hasHosts || id !== 'hosts'),
    ),
    ...ordered.map(sessionCommand),
  ];
}

/** Commands that only Atrium's hosts support. */
const OF_ATRIUM: readonly string[] = ['deleted', 'import', 'usage', 'search'];

function pageCommands(onOverlay: OnOverlay): Command[] {
  const details = { id: 'details', title: 'Show or hide the details', detail: 'D', run: togglePanel };
  return [
    { id: 'new', title: 'New session', detail: 'N', run: () => goTo({ at: 'new' }) },
    {
      id: 'search',
      title: 'Search everything that was said',
      detail: 'Ctrl Shift F',
      run: () => onOverlay('search'),
    },
    ...answering('approve', 'Approve what the agent asks', 'Alt Y'),
    ...answering('deny', 'Deny what the agent asks', 'Alt N'),
    ...stopping(),
    ...(document.querySelector('.session') ? [details, ...PANEL_COMMANDS] : []),
    { id: 'settings', title: 'Settings', detail: keysOf('settings'), run: () => onOverlay('settings') },
    ...THEMES.map(({ id, name }) => ({
      ...{ id: `theme-${id}`, title: `${name} theme`, detail: '' },
      run: () => chooseTheme(id),
    })),
    ...EDITORS.map(({ id, name }) => ({
      ...{ id: `editor-${id}`, title: `Open files in ${name === 'This page' ? 'this page' : name}`, detail: '' },
      run: () => chooseEditor(id),
    })),
    {
      id: 'screen-reader',
      title: isForScreenReaders.get() ? 'Stop reading terminals aloud' : 'Read terminals aloud (screen readers)',
      detail: '',
      run: toggleScreenReaders,
    },
    { id: 'usage', title: 'Usage and cost', detail: '', run: () => onOverlay('usage') },
    { id: 'hosts', title: 'Hosts of the cluster', detail: '', run: () => onOverlay('hosts') },
    { id: 'deleted', title: 'Deleted sessions', detail: '', run: () => onOverlay('deleted') },
    { id: 'import', title: 'Bring sessions from other programs', detail: '', run: () => onOverlay('import') },
    { id: 'help', title: 'Keyboard shortcuts', detail: 'Ctrl /', run: () => onOverlay('help') },
  ];
}

const PANEL_COMMANDS: readonly Command[] = [
  { id: 'files', title: 'Show the files', detail: '', run: () => openPanel('files') },
  { id: 'changes', title: 'Show the changes', detail: '', run: () => openPanel('changes') },
  { id: 'terminal', title: 'Show the terminals', detail: '', run: () => openPanel('terminal') },
];

/** Empty while no tool call asks for permission. */
function answering(kind: 'approve' | 'deny', title: string, detail: string): Command[] {
  return document.querySelector('.confirmation') ? [{ id: kind, title, detail, run: () => answer(kind) }] : [];
}

/** The command for the stop button; empty if the button is not on the screen. */
function stopping(): Command[] {
  const button = document.querySelector<HTMLButtonElement>('.composer .stop');
  return button ? [{ id: 'stop', title: 'Stop the agent', detail: 'Alt .', run: () => button.click() }] : [];
}

function sessionCommand(item: SessionSummary): Command {
  const state = isArchived(item) ? 'Archived' : ACTIVITY_WORDS[activityOf(item)];
  return {
    id: item.resource,
    title: item.title || 'Untitled',
    detail: `${state} · ${placeOf(item) || item.provider}`,
    run: () => goTo({ at: 'session', uri: item.resource }),
  };
}

/** The lists of shortcuts and commands. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard and commands" onClose={onClose}>
      <dl className="shortcuts">
        {shortcutList().map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys.split(' ').map((key) => (key === 'or' ? ' / ' : <kbd key={key}>{key}</kbd>))}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h3>Commands, at the beginning of a message</h3>
      <dl className="shortcuts">
        {BUILTIN_COMMANDS.map((command) => (
          <div key={command.name}>
            <dt>
              <code>{usageOf(command)}</code>
            </dt>
            <dd>{command.text}</dd>
          </div>
        ))}
      </dl>
      <p className="hint">{'Two slashes send a text that begins with one: //etc is the word /etc.'}</p>
    </Dialog>
  );
}
