/** One field that finds every command and every session. */
import { type KeyboardEvent, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { matches } from '../model/search.js';
import { useStore } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { type Command, commandsOf } from './commands.js';

const SHOWN_MAX = 14;

interface Props {
  readonly onClose: () => void;
  readonly onOverlay: (overlay: 'help' | 'deleted') => void;
}

export function Palette({ onClose, onOverlay }: Props) {
  const { link } = useHost();
  const sessions = useStore(link.sessions) ?? [];
  const id = useId();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = commandsOf(sessions, onOverlay)
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
      {found.length === 0 && <p className="hint">Nothing has these words.</p>}
    </Dialog>
  );
}
