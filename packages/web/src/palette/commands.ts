/** Everything that the palette can do: the commands of the page, then the sessions. */
import type { SessionSummary } from '@atrium/protocol';
import { goTo } from '../host/router.js';
import { placeOf } from '../model/place.js';
import { ACTIVITY_WORDS, activityOf, isArchived } from '../model/status.js';
import { isForScreenReaders, toggleScreenReaders } from '../terminals/screen-reader.js';
import { openPanel, togglePanel } from '../ui/panel-switch.js';
import { chooseTheme } from '../ui/theme.js';
import { answer } from './shortcuts.js';

export interface Command {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  run(): void;
}

type OnOverlay = (overlay: 'help' | 'deleted') => void;

/** What is in the archive comes last. */
export function commandsOf(sessions: readonly SessionSummary[], onOverlay: OnOverlay): readonly Command[] {
  const ordered = [...sessions].sort(
    (a, b) => Number(isArchived(a)) - Number(isArchived(b)) || b.modifiedAt - a.modifiedAt,
  );
  return [...pageCommands(onOverlay), ...ordered.map(sessionCommand)];
}

function pageCommands(onOverlay: OnOverlay): Command[] {
  const details = { id: 'details', title: 'Show or hide the details', detail: 'D', run: togglePanel };
  return [
    { id: 'new', title: 'New session', detail: 'N', run: () => goTo({ at: 'new' }) },
    ...answering('approve', 'Approve what the agent asks', 'Alt Y'),
    ...answering('deny', 'Deny what the agent asks', 'Alt N'),
    ...stopping(),
    ...(document.querySelector('.session') ? [details, ...PANEL_COMMANDS] : []),
    { id: 'light', title: 'Light theme', detail: '', run: () => chooseTheme('light') },
    { id: 'dark', title: 'Dark theme', detail: '', run: () => chooseTheme('dark') },
    { id: 'system', title: 'Theme of the system', detail: '', run: () => chooseTheme('system') },
    {
      id: 'screen-reader',
      title: isForScreenReaders.get() ? 'Stop reading terminals aloud' : 'Read terminals aloud (screen readers)',
      detail: '',
      run: toggleScreenReaders,
    },
    { id: 'deleted', title: 'Deleted sessions', detail: '', run: () => onOverlay('deleted') },
    { id: 'help', title: 'Keyboard shortcuts', detail: 'Ctrl /', run: () => onOverlay('help') },
  ];
}

const PANEL_COMMANDS: readonly Command[] = [
  { id: 'files', title: 'Show the files', detail: '', run: () => openPanel('files') },
  { id: 'changes', title: 'Show the changes', detail: '', run: () => openPanel('changes') },
  { id: 'terminal', title: 'Show the terminals', detail: '', run: () => openPanel('terminal') },
];

/** Nothing when nobody asks anything now. */
function answering(kind: 'approve' | 'deny', title: string, detail: string): Command[] {
  return document.querySelector('.confirmation') ? [{ id: kind, title, detail, run: () => answer(kind) }] : [];
}

/** What the button on the screen does; nothing when there is no such button now. */
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
