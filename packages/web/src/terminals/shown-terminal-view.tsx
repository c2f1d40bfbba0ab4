/** The chosen terminal, once it is here. */
import { TerminalView } from './terminal-view.js';
import { useTerminal } from './use-terminal.js';

interface Props {
  readonly uri: string;
  readonly onDispose: () => void;
  readonly onLeave: () => void;
}

export function ShownTerminal({ uri, onDispose, onLeave }: Props) {
  const opening = useTerminal(uri);
  if (opening.at === 'loading') return <p className="terminal-note hint">Loading …</p>;
  if (opening.at === 'failed')
    return (
      <p className="terminal-note" role="alert">
        {opening.why}
      </p>
    );
  return <TerminalView terminal={opening.terminal} onDispose={onDispose} onLeave={onLeave} />;
}
