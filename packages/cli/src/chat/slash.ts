/** Commands that are typed into a chat. Anything else that begins with a slash is a message like any other. */
import type { SessionAction, SessionState } from '@atrium/protocol';

export type SlashOutcome =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'act'; readonly action: SessionAction; readonly text?: string }
  | { readonly kind: 'leave'; readonly to: 'shell' | 'new' | 'sessions' };

const HELP = `Enter sends; while a turn runs it queues. Alt+Enter or Ctrl+S steers the running turn. Esc stops it.
Ctrl+J or Alt+J makes a new line. Up and Down go through what you wrote before. Ctrl+D leaves, Ctrl+C too.
/new  a new session            /sessions  another session       /quit  leave; the session stays
/title <text>  rename it       /model <id>  another model       /unqueue  take back what waits
/auto on|off  run tools without asking`;

type Command = (rest: string, state: SessionState) => SlashOutcome;

const note = (text: string): SlashOutcome => ({ kind: 'note', text });

const COMMANDS: Readonly<Record<string, Command>> = {
  help: () => note(HELP),
  quit: () => ({ kind: 'leave', to: 'shell' }),
  exit: () => ({ kind: 'leave', to: 'shell' }),
  new: () => ({ kind: 'leave', to: 'new' }),
  sessions: () => ({ kind: 'leave', to: 'sessions' }),
  title: (title) =>
    title === ''
      ? note('Write the title behind it.')
      : { kind: 'act', action: { type: 'session/titleChanged', title } },
  model: (id, { summary }) => {
    if (id === '')
      return note(`The model is ${summary.model?.id ?? 'the default of the agent'}. Write another behind it.`);
    return {
      kind: 'act',
      action: { type: 'session/modelChanged', model: { id } },
      text: `From the next turn on: ${id}`,
    };
  },
  auto: (word) => {
    if (word !== 'on' && word !== 'off') return note('Write "on" or "off" behind it.');
    const text = word === 'on' ? 'Tools run without asking in this session.' : 'Tools ask first.';
    return { kind: 'act', action: { type: 'session/configChanged', config: { autoApprove: word === 'on' } }, text };
  },
  unqueue: (_rest, { queuedMessages }) => {
    const last = queuedMessages?.at(-1);
    if (!last) return note('Nothing is waiting.');
    return { kind: 'act', action: { type: 'session/pendingMessageRemoved', kind: 'queued', id: last.id } };
  },
};

export function slash(text: string, state: SessionState): SlashOutcome | undefined {
  const [, name = '', rest = ''] = /^\/([a-z]+)(?:\s+(.*))?$/.exec(text.trim()) ?? [];
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.(rest.trim(), state) : undefined;
}
