/** A row of tabs: one stop for the Tab key, arrows walk along. */
import type { KeyboardEvent } from 'react';
import type { PanelTab } from './tabs.js';

interface Props {
  /** Of the part below, which the tabs show and hide. */
  readonly id: string;
  readonly tabs: readonly PanelTab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function TabList({ id, tabs, chosen, onChoose }: Props) {
  const pressed = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const here = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(here + step + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Parts of the panel" onKeyDown={pressed}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          id={`${id}-${tab.id}`}
          type="button"
          role="tab"
          className="quiet small"
          aria-selected={tab.id === chosen}
          aria-controls={id}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => onChoose(tab.id)}
        >
          {tab.title}
        </button>
      ))}
    </div>
  );
}
