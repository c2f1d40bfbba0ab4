/** The details of a session: what it may do, who takes part, what it has loaded, what it cost. */
import type { SessionState } from '@atrium/protocol';
import { IconButton } from '../ui/icon-button.js';
import { togglePanel } from '../ui/panel-switch.js';
import { Changes } from './changes.js';
import { Customizations } from './customizations.js';
import { People } from './people.js';
import { Providers } from './providers.js';
import { Settings } from './settings.js';
import { Tools } from './tools.js';
import { Usage } from './usage.js';

export function Panel({ state }: { readonly state: SessionState }) {
  return (
    <aside className="panel" aria-label="Details">
      <header>
        <h2>Details</h2>
        <IconButton icon="close" label="Hide details" onClick={togglePanel} />
      </header>
      <Settings state={state} />
      <Usage state={state} />
      <Changes changesets={state.summary.changesets} />
      <Providers state={state} />
      <Customizations items={state.customizations} />
      <Tools state={state} />
      <People state={state} />
    </aside>
  );
}
