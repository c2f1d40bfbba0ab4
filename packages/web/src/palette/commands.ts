/** Everything that the palette can do: the commands of the page, then the sessions. */
import type { SessionSummary } from '@atrium/protocol';
import { goTo } from '../host/router.js';
import { lastPart, pathOf } from '../model/format.js';
import { ACTIVITY_WORDS, activityOf } from '../model/status.js';
import { togglePanel } from '../ui/panel-switch.js';
import { chooseTheme } from '../ui/theme.js';

export interface Command {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  run(): void;
}

export function commandsOf(sessions: readonly SessionSummary[], onHelp: () => void): readonly Command[] {
  return [...pageCommands(onHelp), ...sessions.map(sessionCommand)];
}

function pageCommands(onHelp: () => void): Command[] {
  const press = (selector: string) => () => document.querySelector<HTMLButtonElement>(selector)?.click();
  return [
    { id: 'new', title: 'New session', detail: 'N', run: () => goTo({ at: 'new' }) },
    { id: 'approve', title: 'Approve what the agent asks', detail: 'Alt Y', run: press('[data-answer="approve"]') },
    { id: 'deny', title: 'Deny what the agent asks', detail: 'Alt N', run: press('[data-answer="deny"]') },
    { id: 'stop', title: 'Stop the agent', detail: 'Alt .', run: press('.composer .stop') },
    { id: 'details', title: 'Show or hide the details', detail: 'D', run: togglePanel },
    { id: 'light', title: 'Light theme', detail: '', run: () => chooseTheme('light') },
    { id: 'dark', title: 'Dark theme', detail: '', run: () => chooseTheme('dark') },
    { id: 'system', title: 'Theme of the system', detail: '', run: () => chooseTheme('system') },
    { id: 'help', title: 'Keyboard shortcuts', detail: '?', run: onHelp },
  ];
}

function sessionCommand(item: SessionSummary): Command {
  const place = item.workingDirectory ? lastPart(pathOf(item.workingDirectory)) : item.provider;
  return {
    id: item.resource,
    title: item.title || 'Untitled',
    detail: `${ACTIVITY_WORDS[activityOf(item)]} · ${place}`,
    run: () => goTo({ at: 'session', uri: item.resource }),
  };
}
