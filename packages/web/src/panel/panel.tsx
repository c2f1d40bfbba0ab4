/** The panel at the side: a heading or tabs, and what belongs to the one that is chosen. */
import type { SessionState } from '@atrium/protocol';
import { Suspense, useId } from 'react';
import { useHost } from '../host/context.js';
import { useStore } from '../model/store.js';
import { IconButton } from '../ui/icon-button.js';
import { panelTab, togglePanel } from '../ui/panel-switch.js';
import { PanelEdge } from './panel-edge.js';
import { TabList } from './tab-list.js';
import { PANEL_TABS } from './tabs.js';

export function Panel({ state }: { readonly state: SessionState }) {
  const id = useId();
  const { link } = useHost();
  const root = useStore(link.root);
  const chosen = useStore(panelTab);
  const tabs = PANEL_TABS.filter(({ isShown }) => isShown?.(state, root) ?? true);
  const tab = tabs.find((each) => each.id === chosen) ?? tabs[0];
  if (!tab) return null;
  const hasTabs = tabs.length > 1;
  return (
    <aside className={`panel ${tab.isWide ? 'is-wide' : ''}`} aria-label="Details">
      {tab.isWide && <PanelEdge />}
      <header>
        <h2 className={hasTabs ? 'visually-hidden' : ''}>{tab.title}</h2>
        {hasTabs && <TabList id={id} tabs={tabs} chosen={tab.id} onChoose={panelTab.set} />}
        <IconButton icon="close" label="Hide details" onClick={togglePanel} />
      </header>
      <div
        className="panel-body"
        {...(hasTabs && { role: 'tabpanel', id, 'aria-labelledby': `${id}-${tab.id}`, tabIndex: 0 })}
      >
        <Suspense fallback={<p className="hint">Loading …</p>}>
          <tab.View state={state} />
        </Suspense>
      </div>
    </aside>
  );
}
