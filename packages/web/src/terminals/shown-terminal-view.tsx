/** The chosen terminal, once it is here. */

import { useOpened } from '../host/use-opened.js';
import { OpenTerminal } from './open-terminal.js';
import { TerminalView } from './terminal-view.js';

interface Props {
  readonly uri: string;
  readonly onDispose: () => void;
  readonly onLeave: () => void;
}

export function ShownTerminal({ uri, onDispose, onLeave }: Props) {
  const opening = useOpened(OpenTerminal.open, uri);
  if (opening.at === 'loading') return <p className="terminal-note hint">Loading …</p>;
  if (opening.at === 'failed')
    return (
      <p className="terminal-note" role="alert">
        {opening.why}
      </p>
    );
  return <TerminalView terminal={opening.thing} onDispose={onDispose} onLeave={onLeave} />;
}
