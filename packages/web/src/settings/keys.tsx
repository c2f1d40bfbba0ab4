/** The keys of each command, with a button to change them. */
import { type KeyboardEvent, useState } from 'react';
import { useStore } from '../model/store.js';
import {
  BINDINGS,
  type BindingId,
  changedKeys,
  changeKeys,
  chordOf,
  keysOf,
  keysProblem,
} from '../palette/key-bindings.js';
import { Part } from './part.js';

export function Keys() {
  const changed = useStore(changedKeys);
  const [asking, setAsking] = useState<BindingId>();
  const [problem, setProblem] = useState('');
  const pressed = (event: KeyboardEvent) => {
    if (asking === undefined || event.key === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') return setAsking(undefined);
    const keys = chordOf(event.nativeEvent);
    if (keys === undefined) return;
    const why = keysProblem(asking, keys);
    setProblem(why ?? '');
    if (why !== undefined) return;
    changeKeys(asking, keys);
    setAsking(undefined);
  };
  return (
    <Part title="Keys">
      <p className="hint">Choose a command, then press its new keys. Escape keeps the old ones.</p>
      <ul className="key-list" onKeyDown={pressed}>
        {BINDINGS.map(({ id, text }) => (
          <li key={id}>
            <span>{text}</span>
            <span>
              {changed[id] !== undefined && (
                <button
                  type="button"
                  className="quiet small"
                  aria-label={`Usual: ${text}`}
                  onClick={() => changeKeys(id, undefined)}
                >
                  Usual
                </button>
              )}
              <button
                type="button"
                className="small"
                aria-label={`${asking === id ? 'Press keys …' : keysOf(id)}: ${text}`}
                aria-pressed={asking === id}
                onClick={() => {
                  setAsking(asking === id ? undefined : id);
                  setProblem('');
                }}
                onBlur={() => setAsking(undefined)}
              >
                {asking === id ? 'Press keys …' : <kbd>{keysOf(id)}</kbd>}
              </button>
            </span>
          </li>
        ))}
      </ul>
      <p className="problem" role="alert">
        {problem}
      </p>
    </Part>
  );
}
