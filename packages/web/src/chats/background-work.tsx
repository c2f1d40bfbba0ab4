/** The commands of a chat in the background: their number, and on demand a list with links. */
import type { BackgroundWork, ChatState } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { hashOf } from '../host/router.js';
import { ago, plural } from '../model/format.js';
import { showTerminal } from '../terminals/shown-terminal.js';
import { useNow } from '../ui/use-now.js';
import { VisibleText } from '../ui/visible-text.js';

interface Props {
  readonly session: OpenSession;
  readonly chat: ChatState;
}

export function BackgroundList({ session, chat: { backgroundWork = [] } }: Props) {
  if (backgroundWork.length === 0) return null;
  const isCommands = backgroundWork.every(({ kind }) => kind === 'shell');
  const count = plural(backgroundWork.length, isCommands ? 'command' : 'task');
  return (
    <details className="fold background-work">
      <summary>
        <span className="dot working" /> {count} in the background
      </summary>
      <ul>
        {backgroundWork.map((work) => (
          <Entry key={work.id} session={session} work={work} />
        ))}
      </ul>
    </details>
  );
}

function Entry({ session, work }: { readonly session: OpenSession; readonly work: BackgroundWork }) {
  const now = useNow();
  const since = ago(Date.parse(work.startedAt), now);
  const name = 'command' in work && typeof work.command === 'string' ? work.command : work.label;
  return (
    <li>
      <code title={name}>
        <VisibleText text={name} />
      </code>
      <span className="hint">{since === 'now' ? 'just begun' : since}</span>
      <Way session={session} work={work} />
    </li>
  );
}

function Way({ session, work }: { readonly session: OpenSession; readonly work: BackgroundWork }) {
  const where = <span className="visually-hidden"> {work.label}</span>;
  if ('terminal' in work && typeof work.terminal === 'string') {
    const { terminal } = work;
    return (
      <button type="button" className="quiet small" onClick={() => showTerminal(terminal)}>
        Terminal{where}
      </button>
    );
  }
  if (!('chat' in work) || typeof work.chat !== 'string') return null;
  return (
    <a className="button quiet small" href={hashOf({ at: 'session', uri: session.uri, chat: work.chat })}>
      Chat{where}
    </a>
  );
}
